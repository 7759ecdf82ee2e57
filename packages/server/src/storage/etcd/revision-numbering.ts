// How our revisions follow from etcd's. One transaction of etcd carries many commits, and etcd gives them all one number; but each commit needs
// its own, or a watcher that was cut off between two of them could not say which it has seen. So etcd's number counts in steps of 256:
//
//   revision = base + 256 · etcd's revision + index of the commit in its transaction
//
// `base` is 0 for a new store. A store that was moved here begins above the revisions it had where it came from.

/** How many commits fit into one revision of etcd. */
export const commitsPerStep = 256

export interface Numbering {
  readonly base: number
  /** Indexes beyond the last are given the last, and so share a revision. */
  revisionOf(step: number, index: number): number
  /** The last revision of a step. */
  endOf(step: number): number
  /** The step that a revision belongs to; less than 1 for revisions from before this store. */
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
