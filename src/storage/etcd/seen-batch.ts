// The newest batch of this replica that the stream of changes has shown. It tells of a batch whose answer was lost whether it was stored, when the
// keys that would tell it have been written by others since.

export class SeenBatch {
  #number = 0
  #step = 0

  /** Batches come in order. */
  note(batchNumber: number, step: number): void {
    this.#number = batchNumber
    this.#step = step
  }

  /** The step of etcd that stored a batch; undefined: it was not shown, or one after it was. */
  stepOf(batchNumber: number): number | undefined {
    return batchNumber === this.#number ? this.#step : undefined
  }
}
