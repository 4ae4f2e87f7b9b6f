"""An import contract by allowance: what a package may import, and that nothing else is reached through it.

import-linter's own contracts name what is forbidden; a list of the forbidden has to grow with the program, and is passed
by when it does not. This one names what is allowed. `source_modules` may import themselves, `allowed_modules` and
`allowed_external` directly; everything that is reached through those must be one of them or of `through_modules`.
"stdlib" in `allowed_external` stands for the standard library; `refused_external` are those of it that may not be
imported by the sources themselves.
"""

from __future__ import annotations

import sys

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class OnlyContract(Contract):
    """Kept when every import of the sources, direct or through others, is among the allowed."""

    type_name = "only"

    source_modules = fields.SetField(subfield=fields.StringField())
    allowed_modules = fields.SetField(subfield=fields.StringField(), required=False)
    through_modules = fields.SetField(subfield=fields.StringField(), required=False)
    allowed_external = fields.SetField(subfield=fields.StringField(), required=False)
    refused_external = fields.SetField(subfield=fields.StringField(), required=False)
    broken_contract_guidance = fields.StringField(required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        sources = set(self.source_modules)
        direct = sources | set(self.allowed_modules or ())
        reached = direct | set(self.through_modules or ())
        external = set(self.allowed_external or ())
        if "stdlib" in external:
            external |= sys.stdlib_module_names
        refused = set(self.refused_external or ())

        broken: list[str] = []
        for module in sorted(m for m in graph.modules if _within(m, sources)):
            for imported in sorted(graph.find_modules_directly_imported_by(module)):
                if imported in refused or not (_within(imported, direct) or imported in external):
                    broken.append(f"{module} -> {imported}")
            for imported in sorted(graph.find_upstream_modules(module)):
                if not (_within(imported, reached) or imported in external):
                    chain = graph.find_shortest_chain(importer=module, imported=imported) or (module, imported)
                    if len(chain) > 2:
                        broken.append(" -> ".join(chain))
        missing = sorted(name for name in sources if name not in graph.modules)
        broken.extend(f"{name}: no such package; the contract guards nothing" for name in missing)
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["broken"]:
            output.print_error(f"- {line}", bold=False)
        if self.broken_contract_guidance:
            output.print(self.broken_contract_guidance)


def _within(module: str, packages: set[str]) -> bool:
    """Whether `module` is one of `packages` or lies below one; a plain parent package is not enough."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)
