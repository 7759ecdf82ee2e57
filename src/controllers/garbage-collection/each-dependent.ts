// All that depend on one owner, however many they are: a few at a time, in pieces, and without a list of them.

import type { Graph } from './graph.js'

/** Writes of a few share a commit. All of them go on in the turn in which it is done, which is what others wait for: so they are few. */
const width = 4

/** Visits every dependent. One that fails does not save the others; the first failure is thrown in the end. */
export async function eachDependent(graph: Graph, uid: string, visit: (key: string) => Promise<void>): Promise<void> {
  const { index, run } = graph
  const keys = index.dependentsOf(uid)[Symbol.iterator]()
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (let next = keys.next(); next.done !== true; next = keys.next()) {
      // Nobody waits for the last of them, but others wait for answers: there is a rest before each, and one begins in each turn of the event loop.
      await graph.rest()
      await run.pieces.next()
      if (run.signal.aborted) return
      try {
        await visit(next.value)
      } catch (thrown) {
        if (failures.length === 0) failures.push(thrown)
      }
    }
  }
  await Promise.all(Array.from({ length: width }, work))
  if (failures.length > 0) throw failures[0]
}
