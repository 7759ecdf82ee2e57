// What one command-line flag is, as data: the table of flags is made of these, and parser, help and settings read it.

/** The checks that a file named by a flag must pass before the server starts. */
export type FileContent = 'certificates' | 'private-key' | 'keys' | 'client-configuration' | 'yaml' | 'json-lines' | 'tokens'

interface Common {
  readonly name: string
  /** What stands in for a flag that was not given, in the words of the command line. */
  readonly default?: string
  /** One sentence, without the default, which the help adds. */
  readonly help: string
  /** `none`: the flag is accepted and checked, and the server says at its start that it has no effect. */
  readonly effect: 'now' | 'none'
  /** Why a flag cannot be given at all for now. */
  readonly refused?: string
}

export type FlagDefinition = Common &
  (
    | { readonly kind: 'boolean' | 'text' | 'port' | 'address' | 'duration' | 'bytes' | 'list' | 'texts' | 'folder' }
    | { readonly kind: 'integer' | 'number'; readonly min?: number; readonly max?: number }
    | { readonly kind: 'choice' | 'choices'; readonly choices: readonly string[] }
    | { readonly kind: 'file' | 'files'; readonly content?: FileContent }
  )

export interface FlagGroup {
  readonly title: string
  readonly flags: readonly FlagDefinition[]
}

interface ValueOfKind {
  readonly boolean: boolean
  readonly text: string
  readonly port: number
  readonly address: string
  /** Milliseconds. */
  readonly duration: number
  readonly bytes: number
  readonly integer: number
  readonly number: number
  readonly file: string
  readonly folder: string
  readonly list: readonly string[]
  /** Each is given by itself: commas have another meaning in it. */
  readonly texts: readonly string[]
  readonly files: readonly string[]
}

type Bare<F extends FlagDefinition> = F extends { readonly choices: readonly (infer C)[] }
  ? F extends { readonly kind: 'choices' }
    ? readonly C[]
    : C
  : F['kind'] extends keyof ValueOfKind
    ? ValueOfKind[F['kind']]
    : never

/** The type that a flag's value has after parsing: lists are never undefined, the rest only without a default. */
export type FlagValue<F extends FlagDefinition> = F['kind'] extends 'list' | 'texts' | 'files' | 'choices'
  ? Bare<F>
  : F extends { readonly default: string }
    ? Bare<F>
    : Bare<F> | undefined

/** A wrong command line, as the one sentence that the operator reads. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
}

export const flagError = (flag: string, problem: string): FlagError => new FlagError(`--${flag}: ${problem}`)
