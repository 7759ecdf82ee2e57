// The configuration of an apply: what a body must be before it can be merged.

import { structTopology } from '../schema/topology.js'
import { configProblems } from './check-config.js'
import type { FieldSet } from './field-set.js'
import type { Members } from './members.js'
import { PatchError } from './patch-error.js'
import { isRecord, own } from './plain.js'
import { setsJust } from './same-fields.js'
import { setOf } from './set-of.js'
import type { KindVersions } from './versions.js'

export interface ConfigInput extends KindVersions {
  readonly kind: string
  /** The body of the request, as it was sent. */
  readonly config: unknown
}

export interface Config {
  readonly object: Members
  /** The fields that it sets; where they are those that it set the last time, without those that have no owner. */
  readonly set: FieldSet | undefined
  /** Whether it sets just what it set the last time. */
  readonly isAgain: boolean
}

/** Throws a PatchError for a body that cannot be applied to the kind. `last`: what the applier owns. */
export function readConfig(input: ConfigInput, last?: FieldSet): Config {
  const { config } = input
  if (!isRecord(config)) throw new PatchError('malformed', 'error decoding YAML: the body must be an object')
  const apiVersion = textOf(config, 'apiVersion')
  if (apiVersion !== input.apiVersion)
    throw new PatchError(
      'malformed',
      `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${input.apiVersion}`,
    )
  const metadata = own(config, 'metadata')
  if (isRecord(metadata) && (own(metadata, 'managedFields') ?? null) !== null)
    throw new PatchError('malformed', 'metadata.managedFields must be nil')
  if (textOf(config, 'kind') !== input.kind) throw untyped(config, `no corresponding type for ${printKind(config)}`)
  const topology = structTopology(input.schema)
  if (last !== undefined && setsJust(topology, config, last)) return { object: config, set: last, isAgain: true }
  const problems = configProblems(topology, config)
  if (problems.length > 1) throw untyped(config, ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
  if (problems[0] !== undefined) throw untyped(config, problems[0])
  return { object: config, set: setOf(topology, config), isAgain: false }
}

const untyped = (config: Members, problem: string): PatchError =>
  new PatchError('untyped', `failed to create typed patch object (${describe(config)}): ${problem}`)

/** Such as `shop/a; apps/v1, Kind=Deployment`. */
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
