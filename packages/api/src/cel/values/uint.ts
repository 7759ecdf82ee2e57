// An unsigned integer of 64 bits. Integers are bigints and doubles are numbers; this one needs a name of its own.

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}
