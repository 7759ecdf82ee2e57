// Environment variables of containers: `KEY=VALUE` and `KEY-` arguments, stdin, changes, references to other objects.

import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'

export interface EnvSource {
  readonly configMapKeyRef?: KeyRef
  readonly secretKeyRef?: KeyRef
  readonly fieldRef?: { readonly fieldPath?: string }
  readonly resourceFieldRef?: { readonly containerName?: string; readonly resource?: string; readonly divisor?: string | number }
}

interface KeyRef {
  readonly name?: string
  readonly key?: string
  readonly optional?: boolean
}

export interface EnvVar {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: EnvSource
}

export interface EnvChanges {
  readonly set: readonly EnvVar[]
  readonly remove: readonly string[]
}

export const isEnvChange = (word: string): boolean => word.includes('=') || word.endsWith('-')

const namePattern = /^[-.a-z_][-.\w]*$/i
const namePatternText =
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"

/** A word `-` reads stdin. */
export async function readEnvChanges(words: readonly string[], readStdin: () => Promise<string>): Promise<EnvChanges> {
  const set: EnvVar[] = []
  const remove: string[] = []
  const named = new Set<string>()
  for (const word of words) {
    const equals = word.indexOf('=')
    if (word === '-') set.push(...variablesOf(await readStdin()))
    else if (equals >= 0) {
      const name = word.slice(0, equals)
      if (!namePattern.test(name) || name === '.' || name === '..')
        throw new UsageError(`${JSON.stringify(name)} is not a valid key name: ${namePatternText}`)
      named.add(name)
      set.push({ name, value: word.slice(equals + 1) })
    } else if (word.endsWith('-')) remove.push(word.slice(0, -1))
    else throw new UsageError(`unknown environment variable: ${word}`)
  }
  if (remove.some((name) => named.has(name)))
    throw new UsageError('can not both modify and remove the same environment variable in the same command')
  return { set, remove }
}

/** Lines `NAME=VALUE`; `#` begins a comment. Other lines are ignored. */
function variablesOf(text: string): readonly EnvVar[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const spec = line.includes('#') ? line.slice(0, line.indexOf('#')) : line
    const equals = spec.indexOf('=')
    return equals < 0 ? [] : [{ name: spec.slice(0, equals), value: spec.slice(equals + 1) }]
  })
}

/** Name of the variable for a key of a ConfigMap or Secret: `db.host` becomes `DB_HOST`. */
export const envNameOf = (key: string): string => key.replaceAll(/[^a-zA-Z0-9_]/g, '_').toUpperCase()

/** Changed and removed variables keep the position of the others; new ones come last. */
export function changeEnv(present: readonly EnvVar[], { set, remove }: EnvChanges): readonly EnvVar[] {
  const wanted = new Map<string, EnvVar>()
  for (const variable of set) if (!wanted.has(variable.name)) wanted.set(variable.name, variable)
  const handled = new Set(remove)
  const changed = present.flatMap((variable) => {
    if (handled.has(variable.name)) return []
    const replacement = wanted.get(variable.name)
    if (replacement === undefined) return [variable]
    handled.add(variable.name)
    return [replacement]
  })
  return [...changed, ...[...wanted.values()].filter(({ name }) => !handled.has(name))]
}

export function checkOverwrites(present: readonly EnvVar[], { set }: EnvChanges): void {
  for (const { name, value = '' } of set) {
    const current = present.find((variable) => variable.name === name)
    if (current !== undefined && (current.value ?? '') !== value)
      throw new CommandError(`'${name}' already has a value (${current.value ?? ''}), and --overwrite is false`)
  }
}

/** Strategic merge patch of an `env` list; undefined if the lists are equal. */
export function envPatch(before: readonly EnvVar[], after: readonly EnvVar[]): object | undefined {
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined
  const old = new Map(before.map((variable) => [variable.name, variable]))
  const changed = after.filter((variable) => JSON.stringify(old.get(variable.name)) !== JSON.stringify(variable))
  const removed = before.filter(({ name }) => !after.some((variable) => variable.name === name))
  return {
    '$setElementOrder/env': after.map(({ name }) => ({ name })),
    env: [
      ...changed.map((variable) => {
        const { value, valueFrom } = old.get(variable.name) ?? {}
        return {
          ...(value !== undefined && variable.value === undefined ? { value: null } : {}),
          ...(valueFrom === undefined ? {} : { valueFrom: null }),
          ...(valueFrom !== undefined && variable.valueFrom !== undefined
            ? { ...variable, valueFrom: { $patch: 'replace', ...variable.valueFrom } }
            : variable),
        }
      }),
      ...removed.map(({ name }) => ({ $patch: 'delete', name })),
    ],
  }
}

export function describeSource({ configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef }: EnvSource): string {
  if (configMapKeyRef !== undefined) return `configmap ${configMapKeyRef.name}, key ${configMapKeyRef.key}`
  if (secretKeyRef !== undefined) return `secret ${secretKeyRef.name}, key ${secretKeyRef.key}`
  if (fieldRef !== undefined) return `field path ${fieldRef.fieldPath}`
  if (resourceFieldRef === undefined) return 'invalid valueFrom'
  const { containerName = '', resource } = resourceFieldRef
  return `resource field ${containerName === '' ? '' : `${containerName}/`}${resource}`
}

/** Matches names with `*` in linear time. */
export function matchesWildcard(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let position = first.length
  for (const part of rest) {
    const found = name.indexOf(part, position)
    if (found < 0) return false
    position = found + part.length
  }
  return name.length - last.length >= position && name.endsWith(last)
}
