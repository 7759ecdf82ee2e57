// Definition of a command-line flag: the entries of the flag table, and the types of their values.

export type FileContent = 'certificates' | 'private-key' | 'keys' | 'client-configuration' | 'yaml' | 'json-lines' | 'tokens' | 'secret'

interface CommonFields {
  readonly name: string
  /** Default, as written on the command line. */
  readonly default?: string
  /** Help text; --help adds the default to it. */
  readonly help: string
  /** `none`: accepted and validated for compatibility; the server warns about it at the start. */
  readonly effect?: 'none'
  /** Error message of an unsupported flag, unless its value is the default. */
  readonly refused?: string
}

export type FlagDefinition = CommonFields &
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
  readonly duration: number
  readonly bytes: number
  readonly integer: number
  readonly number: number
  readonly file: string
  readonly folder: string
  readonly list: readonly string[]
  /** Repeatable flag whose values are not split at commas. */
  readonly texts: readonly string[]
  readonly files: readonly string[]
}

type DefinedValue<F extends FlagDefinition> = F extends { readonly choices: readonly (infer C)[] }
  ? F extends { readonly kind: 'choices' }
    ? readonly C[]
    : C
  : F['kind'] extends keyof ValueOfKind
    ? ValueOfKind[F['kind']]
    : never

/** Type of the parsed value: lists are never undefined, other kinds only without a default. */
export type FlagValue<F extends FlagDefinition> = F['kind'] extends 'list' | 'texts' | 'files' | 'choices'
  ? DefinedValue<F>
  : F extends { readonly default: string }
    ? DefinedValue<F>
    : DefinedValue<F> | undefined

/** Invalid command line; the server exits with 2. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
}

export const flagError = (flag: string, problem: string): FlagError => new FlagError(`--${flag}: ${problem}`)
