// Moves everything from a source to a target, and then reads it back to see that it is all there.

import { createTally } from './checksum.js'
import { MoveError, type MoveSource, type MoveSummary, type MoveTarget } from './moved-entry.js'

export interface MoveOptions {
  readonly source: MoveSource
  readonly target: MoveTarget
  readonly report: (progress: Progress) => void
}

export interface Progress {
  readonly step: 'copying' | 'checking'
  readonly count: number
  readonly bytes: number
}

export async function move({ source, target, report }: MoveOptions): Promise<MoveSummary> {
  let summary: MoveSummary
  try {
    const tally = createTally()
    for await (const page of source.pages()) {
      await target.write(page)
      tally.add(page)
      report({ step: 'copying', count: tally.count, bytes: tally.bytes })
    }
    await source.checkUnchanged()
    summary = tally.finish()
    await target.finish(summary)
  } catch (error) {
    await target.abandon()
    throw error
  }
  await check(summary, { source, target, report })
  return summary
}

/** Everything is read once to the end; throws unless it is what the summary says. */
async function check(expected: MoveSummary, { source, target, report }: MoveOptions): Promise<void> {
  const copy = await target.readBack()
  try {
    const found = await summarize(copy, report)
    if (found.count !== expected.count || found.checksum !== expected.checksum) {
      throw new MoveError(
        `the copy differs: ${found.count} objects of ${expected.count}, checksum ${found.checksum} and not ${expected.checksum}`,
      )
    }
    if (copy.revision < source.revision) throw new MoveError(`the copy is at revision ${copy.revision}, which is before ${source.revision}`)
    if (copy.mark !== source.mark) throw new MoveError(`the copy belongs to '${copy.mark}', and not to '${source.mark}'`)
  } finally {
    await copy.close()
  }
}

export async function summarize(source: MoveSource, report: (progress: Progress) => void): Promise<MoveSummary> {
  const tally = createTally()
  for await (const page of source.pages()) {
    tally.add(page)
    report({ step: 'checking', count: tally.count, bytes: tally.bytes })
  }
  return tally.finish()
}
