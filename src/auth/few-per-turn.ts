// Short works of which very many may become possible at the same moment, because all of them waited for the same: a few go on in each turn of the event
// loop. Where few come nothing is different.

export class FewPerTurn {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  /** How many have gone on in this turn. */
  #begun = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Undefined: now. */
  turn(): Promise<void> | undefined {
    if (this.#begun >= this.#most || this.#waiting.length > 0) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#count(1)
    return undefined
  }

  #count(begun: number): void {
    if (this.#begun === 0) setImmediate(this.#endTurn)
    this.#begun += begun
  }

  readonly #endTurn = (): void => {
    this.#begun = 0
    const next = this.#waiting.splice(0, this.#most)
    if (next.length > 0) this.#count(next.length)
    for (const goOn of next) goOn()
  }
}
