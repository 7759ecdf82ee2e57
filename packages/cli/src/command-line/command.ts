// Interface of commands: usage, flags, and the context of a run.

import type { FlagTable, FlagValues } from './flags.js'
import type { globalFlags } from './global-flags.js'
import type { Io } from './io.js'
import type { Session } from './session.js'

export interface CommandContext<Table extends FlagTable = Record<never, never>> {
  readonly args: readonly string[]
  /** Arguments after `--`; undefined without `--`. */
  readonly rest: readonly string[] | undefined
  readonly flags: FlagValues<Table & Omit<typeof globalFlags, keyof Table>>
  readonly session: Session
  readonly io: Io
  readonly signal: AbortSignal
}

export interface Command<Table extends FlagTable = FlagTable> {
  readonly usage: string
  readonly examples?: readonly string[]
  readonly flags: Table
  readonly takesNoArguments?: boolean
  /** Exit code of a failure or wrong usage. Default: 1. */
  readonly failureCode?: number
  /** Returns the exit code; undefined means 0. */
  run(context: CommandContext<Table>): Promise<number | undefined>
}

export const defineCommand = <const Table extends FlagTable>(command: Command<Table>): Command => command as unknown as Command
