// CEL `uint`: wrapped, because `int` is a bigint.

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}
