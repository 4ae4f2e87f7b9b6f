"""What a task author imports: `from actum.sdk import Context, InputFile, task`."""
