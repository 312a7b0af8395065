"""What the assembler makes of a kernel, as evidence: remarks, registers, shared memory, machine code."""
