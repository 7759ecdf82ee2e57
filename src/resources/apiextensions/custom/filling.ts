// How much defaults may add to one object: a few bytes in a request must not become a thousand times as many.

import { requestEntityTooLarge } from '../../../api/api-error.js'

/** Steps that follow are chosen by the size of the body, without its defaults, so these must not be most of the object. */
const maxAddedBytes = 512 << 10

export interface Filling {
  /** Counts a default of so many bytes; false: it is left out. */
  hasRoomFor(bytes: number): boolean
}

/** Of an object that is written: too much is refused. */
export class RefusingFilling implements Filling {
  #bytes = 0

  hasRoomFor(bytes: number): boolean {
    this.#bytes += bytes
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
