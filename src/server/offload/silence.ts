// How long the thread for heavy requests has said nothing, by the processor time that this process had meanwhile: on a machine that is busy with
// other things everything takes longer, and that is nobody's fault.

/**
 * Whoever computes without a pause has his share, and no more as long as others wait: how much a request takes is up to its author. While others are
 * carried out beside it nobody knows whose fault it is, and each is begun anew by itself; by itself it is given up. The heaviest of usual requests
 * take a second.
 */
const shares = { besideMs: 2000, aloneMs: 6000 }

export class Silence {
  readonly #processorMs: () => number
  /** Undefined until it has said its first word: before that it is being started. */
  #since: number | undefined
  #isAsked = false

  constructor(processorMs = usedMs) {
    this.#processorMs = processorMs
  }

  /** Somebody has something for it to do, and it had nothing. */
  begin(): void {
    if (this.#since !== undefined) this.#since = this.#processorMs()
  }

  end(): void {
    this.#since = this.#processorMs()
    this.#isAsked = false
  }

  isTooLong(isAlone: boolean): boolean {
    return this.#since !== undefined && this.#processorMs() - this.#since > (isAlone ? shares.aloneMs : shares.besideMs)
  }

  /** Asks it to say something, once until it does. */
  ask(say: () => void): void {
    if (this.#isAsked) return
    this.#isAsked = true
    say()
  }
}

function usedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
