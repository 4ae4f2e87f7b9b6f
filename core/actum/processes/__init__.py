"""Identities, trees and signals of operating-system processes."""
