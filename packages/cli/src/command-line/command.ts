// What a command is, and what it is given.

import type { FlagTable, FlagValues } from './flags.js'
import type { Io } from './io.js'
import type { Session } from './session.js'
import type { usualFlags } from './usual-flags.js'

export interface Work<Table extends FlagTable = Record<never, never>> {
  readonly args: readonly string[]
  /** What stands behind `--`. */
  readonly rest: readonly string[] | undefined
  readonly flags: FlagValues<Table & Omit<typeof usualFlags, keyof Table>>
  readonly session: Session
  readonly io: Io
  /** Aborted when somebody interrupts the command. */
  readonly signal: AbortSignal
}

export interface Command<Table extends FlagTable = FlagTable> {
  /** Without the command itself: `get TYPE [NAME] [flags]`. */
  readonly usage: string
  readonly about: string
  readonly examples?: readonly string[]
  readonly flags: Table
  /** Words behind it mean nothing, and whoever writes some means something else. */
  readonly takesNoWords?: boolean
  /** The exit code where it fails; by default 1. */
  readonly failureCode?: number
  /** Gives the exit code; nothing is 0. */
  run(work: Work<Table>): Promise<number | undefined>
}

/** With the types of its own flags inside, and those of any command outside. */
export const defineCommand = <const Table extends FlagTable>(command: Command<Table>): Command => command as unknown as Command
