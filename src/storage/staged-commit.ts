// A commit that waits for its batch.

import { type CommitBatch, stageCommit } from './commit-batch.js'
import type { BatchItem } from './commit-queue.js'
import type { CommitOutcome, Write } from './storage.js'

/** One object, because every write makes one. */
export class StagedCommit implements BatchItem<CommitBatch> {
  readonly #writes: readonly Write[]
  readonly #resolve: (outcome: CommitOutcome) => void
  readonly fail: (error: unknown) => void
  #outcome: CommitOutcome | undefined

  constructor(writes: readonly Write[], resolve: (outcome: CommitOutcome) => void, fail: (error: unknown) => void) {
    this.#writes = writes
    this.#resolve = resolve
    this.fail = fail
  }

  stage(batch: CommitBatch): void {
    this.#outcome = stageCommit(batch, this.#writes)
  }

  resolve(): void {
    this.#resolve(this.#outcome as CommitOutcome)
  }
}
