// How much defaults may add to one object: a few bytes in a request must not become a thousand times as many.

import { requestEntityTooLarge } from '../../../api/api-error.js'
import type { RuleContext } from '../../../api/definition.js'

const maxAddedBytes = 512 << 10

export interface Filling {
  /** Counts a default of so many bytes; false: it is left out. */
  hasRoomFor(bytes: number): boolean
}

/** An object with so many bytes of defaults is large, however small its body is. */
const largeAddedBytes = 64 << 10

/** Of an object that is written: too much is refused. */
export class RefusingFilling implements Filling {
  readonly #context: Pick<RuleContext, 'markLarge'>
  #bytes = 0

  constructor(context: Pick<RuleContext, 'markLarge'> = {}) {
    this.#context = context
  }

  hasRoomFor(bytes: number): boolean {
    this.#bytes += bytes
    if (this.#bytes > largeAddedBytes) this.#context.markLarge?.()
    if (this.#bytes > maxAddedBytes) throw requestEntityTooLarge(`defaults add more than ${maxAddedBytes} bytes to the object`)
    return true
  }
}

/** Of a stored object: it can be read and deleted whatever its CustomResourceDefinition says today. */
export class SparingFilling implements Filling {
  #left = maxAddedBytes

  hasRoomFor(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }
}
