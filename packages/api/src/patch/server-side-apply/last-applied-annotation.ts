// Migration of a client from client-side to server-side apply: fields in its last-applied annotation whose live values are unchanged
// do not conflict; the annotation is updated for further client-side applies.

import { sortTexts } from '../../base/text-order.js'
import { writeAny } from '../../schema/json/write.js'
import { structTopology } from '../../schema/topology.js'
import { compare } from '../field-set/compare.js'
import { difference, type FieldSet } from '../field-set/field-set.js'
import { toFieldSet } from '../field-set/to-field-set.js'
import { isRecord, type Members, own, setOwn } from '../json-value.js'
import type { KindVersions } from '../managed-fields/ownable-fields.js'
import { ownable, ownableTopology } from '../managed-fields/ownable-fields.js'
import { configProblems } from './validate-config.js'

interface ClientSideApply {
  readonly manager: string
  readonly annotation: string
}

export interface AnnotatedApply extends KindVersions {
  readonly live: object | undefined
  readonly manager: string
  readonly clientSideApply?: ClientSideApply | undefined
}

/** Maximum characters of all annotations of an object; above it, the last-applied annotation is dropped. */
const maxAnnotationsLength = 256 * 1024

/** Fields in the annotation whose live values still equal those in the annotation. */
export function claimedByAnnotation(input: AnnotatedApply): FieldSet | undefined {
  const text = annotationOf(input, input.live as Members | undefined)
  const config = text === undefined ? undefined : readConfig(text)
  if (config === undefined || own(config, 'apiVersion') !== input.apiVersion) return undefined
  const topology = structTopology(input.schema)
  if (configProblems(topology, config).length > 0) return undefined
  const { changed, removed } = compare(ownableTopology(input.schema), config, input.live as Members)
  return difference(difference(ownable(toFieldSet(topology, config)), changed), removed)
}

function readConfig(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function annotationOf(input: AnnotatedApply, object: Members | undefined): string | undefined {
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

/** Updates the annotation if the object has one and the applier is the manager of client-side apply. */
export function refreshAnnotation<Outcome extends { readonly object: object }>(
  outcome: Outcome,
  config: Members,
  input: AnnotatedApply,
): Outcome {
  const object = outcome.object as Members
  const name = input.clientSideApply?.annotation
  if (name === undefined || annotationOf(input, object) === undefined) return outcome
  const annotations: { [name: string]: unknown } = { ...annotationsOf(object) }
  const text = `${writeSorted(withoutAnnotation(config, name))}\n`
  if (annotations[name] === text) return outcome
  setOwn(annotations, name, text)
  if (lengthOf(annotations) > maxAnnotationsLength) delete annotations[name]
  // Updated even if nothing else changes, because the next client-side apply compares with it.
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
