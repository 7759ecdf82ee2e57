// Reads the configuration of a server-side apply: checks version, kind and schema, and returns the field set.

import { structTopology } from '../../schema/topology.js'
import type { FieldSet } from '../field-set/field-set.js'
import { toFieldSet } from '../field-set/to-field-set.js'
import { isRecord, type Members, own } from '../json-value.js'
import type { KindVersions } from '../managed-fields/ownable-fields.js'
import { PatchError } from '../patch-error.js'
import { setsSameFields } from './repeated-apply.js'
import { configProblems } from './validate-config.js'

export interface ConfigInput extends KindVersions {
  readonly kind: string
  readonly config: unknown
}

export interface Config {
  readonly object: Members
  readonly set: FieldSet | undefined
  /** True if detected as a repeated apply: the configuration sets the same fields as the last apply of the manager. */
  readonly isRepeated: boolean
}

/** `last`: fields that the manager owns by its last apply. Throws PatchError. */
export function readConfig(input: ConfigInput, last?: FieldSet): Config {
  const { config } = input
  if (!isRecord(config)) throw new PatchError('malformed', 'error decoding YAML: the body must be an object')
  const apiVersion = versionOf(textOf(config, 'apiVersion'))
  if (apiVersion !== input.apiVersion)
    throw new PatchError(
      'malformed',
      `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${input.apiVersion}`,
    )
  const metadata = own(config, 'metadata')
  if (isRecord(metadata) && (own(metadata, 'managedFields') ?? null) !== null)
    throw new PatchError('malformed', 'metadata.managedFields must be nil')
  if (textOf(config, 'kind') !== input.kind) throw untypedError(config, `no corresponding type for ${printKind(config)}`)
  const topology = structTopology(input.schema)
  if (last !== undefined && setsSameFields(topology, config, last)) return { object: config, set: last, isRepeated: true }
  const problems = configProblems(topology, config)
  if (problems.length > 1) throw untypedError(config, ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
  if (problems[0] !== undefined) throw untypedError(config, problems[0])
  return { object: config, set: toFieldSet(topology, config), isRepeated: false }
}

/** An apiVersion as group and version: `/v1` is `v1`; more than one slash is no version. */
function versionOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  if (slash !== apiVersion.lastIndexOf('/')) return ''
  return slash === 0 ? apiVersion.slice(1) : apiVersion
}

const untypedError = (config: Members, problem: string): PatchError =>
  new PatchError('untyped', `failed to create typed patch object (${describe(config)}): ${problem}`)

function describe(config: Members): string {
  const metadata = own(config, 'metadata')
  const name = isRecord(metadata) ? `${textOf(metadata, 'namespace')}/${textOf(metadata, 'name')}` : '/'
  return `${name}; ${printKind(config)}`
}

function printKind(config: Members): string {
  const apiVersion = textOf(config, 'apiVersion')
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${textOf(config, 'kind')}`
}

function textOf(record: Members, name: string): string {
  const value = own(record, name)
  return typeof value === 'string' ? value : ''
}
