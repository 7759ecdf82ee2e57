// Maps etcd's revisions, here called steps, to ours. A transaction of etcd has many commits, and a watch must be able to resume after each:
//   revision = base + 256 · step + index of the commit in its transaction
// `base` is 0 for a new store; a restored store starts above its former revisions.

export const commitsPerStep = 256

export interface Numbering {
  readonly base: number
  /** Indexes beyond the last share the last revision. */
  revisionOf(step: number, index: number): number
  endOf(step: number): number
  /** Less than 1 for revisions from before this store. */
  stepOf(revision: number): number
  /** The last step that lies wholly at or before a revision. */
  wholeStepsUpTo(revision: number): number
}

export function createNumbering(base: number): Numbering {
  return {
    base,
    revisionOf: (step, index) => base + step * commitsPerStep + Math.min(index, commitsPerStep - 1),
    endOf: (step) => base + step * commitsPerStep + commitsPerStep - 1,
    stepOf: (revision) => Math.floor((revision - base) / commitsPerStep),
    wholeStepsUpTo: (revision) => Math.floor((revision + 1 - base) / commitsPerStep) - 1,
  }
}
