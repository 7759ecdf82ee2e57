// Patches of a lane (a client with its own objects): JSON patch, merge patch, strategic merge patch, and apply in JSON and YAML.

import { type Kind, requestAnnotation, type Version } from '../kinds.js'
import type { Lane } from '../lane.js'
import type { Key } from '../model.js'
import { encode, pickForObject, withQuery } from '../representations.js'
import { payloadText } from './payload.js'

interface Patch {
  readonly verb: string
  readonly contentType: string
  readonly body: Buffer
  readonly query?: string
  readonly version: Version
}

export async function patch(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const isNew = !lane.isFull(kind) && lane.random.below(6) === 0
  const key = isNew ? lane.model.newKey(kind) : lane.pickKey(kind)
  if (key === undefined) return
  const [before] = key.possible
  const apiVersion = lane.pickApiVersion(kind)
  const patchFunctions = [jsonPatch, mergePatch, ...(kind.hasStrategicPatch ? [strategicPatch] : [])]
  const chance = lane.random.next()
  const patchRequest =
    before === undefined || chance < 0.35 ? apply(lane, key, apiVersion) : lane.random.pick(patchFunctions)(lane, key, before)
  const { query, isDry, hasShortTimeout } = lane.pickQuery()
  const called = await lane.client.call({
    verb: `${patchRequest.verb}${isDry ? ' dry run' : ''}`,
    method: 'PATCH',
    path: withQuery(lane.pathOf(key, apiVersion), query, patchRequest.query),
    body: patchRequest.body,
    contentType: patchRequest.contentType,
    as: pickForObject(lane.random, kind.hasProtobuf),
    contains: [patchRequest.version.id, key.name],
    expect: [before === undefined ? 201 : 200, ...(hasShortTimeout ? [504] : [])],
  })
  if (!isDry) lane.settle(key, patchRequest.version, called)
}

/** Half of the patches replace the payload, the others leave it as it is. */
function nextVersion(lane: Lane, kind: Kind, before: Version, canReplace = true): Version {
  return canReplace && kind.isMutable && lane.random.below(2) === 0 ? lane.newVersion(kind) : { ...before, id: lane.ids.next() }
}

const hasNewPayload = (before: Version, after: Version): boolean => before.payloadId !== after.payloadId
const payloadOf = (lane: Lane, { payloadId, payloadBytes }: Version): string => payloadText(lane.tenant.mark, payloadId, payloadBytes)

const pointer = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1')

function jsonPatch(lane: Lane, { kind }: Key, before: Version): Patch {
  const version = nextVersion(lane, kind, before)
  const path = `/metadata/annotations/${pointer(requestAnnotation)}`
  const operations = [
    { op: 'test', path, value: before.id },
    { op: 'replace', path, value: version.id },
    { op: 'add', path: `/metadata/labels/${lane.tenant.mark}`, value: lane.tenant.mark },
    ...(hasNewPayload(before, version)
      ? [{ op: 'replace', path: kind.payloadPath, value: kind.payloadValue(payloadOf(lane, version)) }]
      : []),
  ]
  return { verb: 'json patch', contentType: 'application/json-patch+json', body: encode(operations, 'JSON'), version }
}

function mergeBody(lane: Lane, { kind }: Key, before: Version, version: Version): object {
  const { mark } = lane.tenant
  const metadata = { annotations: { [requestAnnotation]: version.id, [`merged-${mark}`]: mark } }
  return { metadata, ...(hasNewPayload(before, version) ? kind.content(lane.tenant, payloadOf(lane, version)) : {}) }
}

function mergePatch(lane: Lane, key: Key, before: Version): Patch {
  const version = nextVersion(lane, key.kind, before)
  const body = encode(mergeBody(lane, key, before, version), 'JSON')
  return { verb: 'merge patch', contentType: 'application/merge-patch+json', body, version }
}

/** Lists that are merged by key keep the items that a patch does not name, so their payload stays. */
const isMergedList = ({ payloadValue }: Kind): boolean => Array.isArray(payloadValue(''))

function strategicPatch(lane: Lane, key: Key, before: Version): Patch {
  const version = nextVersion(lane, key.kind, before, !isMergedList(key.kind))
  const body = encode(mergeBody(lane, key, before, version), 'JSON')
  return { verb: 'strategic patch', contentType: 'application/strategic-merge-patch+json', body, version }
}

/** Always with a payload: a field that a manager does not apply any more is removed. */
function apply(lane: Lane, key: Key, apiVersion: string): Patch {
  const [before] = key.possible
  const version = before === undefined ? lane.newVersion(key.kind) : nextVersion(lane, key.kind, before, !isMergedList(key.kind))
  const encoding = lane.random.pick(['JSON', 'YAML'] as const)
  const body = encode(lane.object(key, version, apiVersion), encoding)
  return { verb: `apply ${encoding}`, contentType: 'application/apply-patch+yaml', body, query: 'force=true', version }
}
