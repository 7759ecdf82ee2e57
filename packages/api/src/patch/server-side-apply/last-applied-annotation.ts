// The way from client-side to server-side apply: a client that kept its last configuration in an annotation may take over what it
// wrote by updates without a conflict, and its annotation follows what it applies.

import { sortTexts } from '../base/text-order.js'
import { structTopology } from '../schema/topology.js'
import { writeAny } from '../schema/write.js'
import type { ApplyInput, ApplyOutcome } from './apply.js'
import { configProblems } from './check-config.js'
import { compare } from './compare.js'
import { difference, type FieldSet } from './field-set.js'
import type { Members } from './members.js'
import { ownable, ownableTopology } from './ownable.js'

import { isRecord, own, setOwn } from './plain.js'
import { setOf } from './set-of.js'

export interface ClientSideApply {
  /** The manager to which this applies: the name under which the client applies on the server's side. */
  readonly manager: string
  /** The annotation in which it keeps its last configuration. */
  readonly annotation: string
}

// Together annotations may not be greater than this; rather than fail, the server forgets its copy of the configuration.
const maxAnnotationsLength = 256 * 1024

/** What the annotation says that the client set, and what still is as it set it. */
export function claimedByAnnotation(input: ApplyInput): FieldSet | undefined {
  const text = annotationOf(input, input.live as Members | undefined)
  const config = text === undefined ? undefined : readConfig(text)
  if (config === undefined || own(config, 'apiVersion') !== input.apiVersion) return undefined
  const topology = structTopology(input.schema)
  if (configProblems(topology, config).length > 0) return undefined
  // What is not as the client set it any more is not its own.
  const { changed, removed } = compare(ownableTopology(input.schema), config, input.live as Members)
  return difference(difference(ownable(setOf(topology, config)), changed), removed)
}

function readConfig(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The annotation's value, if this manager has one. */
function annotationOf(input: ApplyInput, object: Members | undefined): string | undefined {
  const { clientSideApply } = input
  if (clientSideApply === undefined || clientSideApply.manager !== input.manager || object === undefined) return undefined
  const value = own(annotationsOf(object), clientSideApply.annotation)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function annotationsOf(object: Members): Members {
  const metadata = own(object, 'metadata')
  const annotations = isRecord(metadata) ? own(metadata, 'annotations') : undefined
  return isRecord(annotations) ? annotations : {}
}

/** The outcome with its annotation brought up to date, if it has one. */
export function refreshAnnotation(outcome: ApplyOutcome, config: Members, input: ApplyInput): ApplyOutcome {
  const object = outcome.object as Members
  const name = input.clientSideApply?.annotation
  if (name === undefined || annotationOf(input, object) === undefined) return outcome
  const annotations: { [name: string]: unknown } = { ...annotationsOf(object) }
  const text = `${writeSorted(withoutAnnotation(config, name))}\n`
  if (annotations[name] === text) return outcome
  setOwn(annotations, name, text)
  if (lengthOf(annotations) > maxAnnotationsLength) delete annotations[name]
  // The annotation is up to date even where it is all that changes: the next client-side apply compares with it.
  return { ...outcome, object: withAnnotations(object, annotations), isChanged: true }
}

const withAnnotations = (object: Members, annotations: Members): Members => ({
  ...object,
  metadata: { ...(own(object, 'metadata') as object), annotations },
})

function withoutAnnotation(config: Members, name: string): Members {
  const annotations: { [name: string]: unknown } = { ...annotationsOf(config) }
  if (!Object.hasOwn(annotations, name)) return config
  delete annotations[name]
  return withAnnotations(config, annotations)
}

const lengthOf = (annotations: Members): number =>
  Object.entries(annotations).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)

const writeSorted = (value: unknown): string => writeAny(sorted(value))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const out: { [name: string]: unknown } = {}
  for (const name of sortTexts(Object.keys(value))) setOwn(out, name, sorted(own(value, name)))
  return out
}
