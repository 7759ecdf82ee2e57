// Reads of a lane (a client with its own objects): get, list in pages and by selector, and reads of its tenant's cluster-scoped objects.

import type { JsonObject } from '../../kit/network/json-object.js'
import { differenceFrom, laneLabel } from '../kinds.js'
import type { Lane } from '../lane.js'
import type { Key } from '../model.js'
import { json, pickForList, pickForObject, type Representation, withQuery } from '../representations.js'
import { classNames, priorityClasses } from '../setup.js'

export async function get(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const key = lane.pickKey(kind)
  if (key !== undefined) return getKey(lane, key, pickForObject(lane.random, kind.hasProtobuf))
  const name = `${lane.model.lane}-missing`
  const path = `${lane.collection(kind)}/${name}`
  await lane.client.call({ verb: 'get', method: 'GET', path, as: pickForObject(lane.random, kind.hasProtobuf), expect: [404] })
}

async function getKey(lane: Lane, key: Key, as: Representation): Promise<void> {
  const [version] = key.possible
  if (version === undefined) return
  const { response, isOk } = await lane.client.call({
    verb: 'get',
    method: 'GET',
    path: lane.pathOf(key),
    as,
    contains: [version.id, key.name, lane.tenant.namespace],
    expect: [200],
  })
  if (!isOk || as.isJson !== true) return
  const difference = differenceFrom(key.kind, lane.tenant, JSON.parse(response.body.toString()) as JsonObject, version)
  if (difference !== undefined) lane.client.checks.addFinding('lost write', `GET ${lane.pathOf(key)}: ${difference}`)
}

/** Lists all objects of the lane of one kind, sometimes in pages: the lane is their only writer, so the result is known exactly. */
export async function list(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const as = pickForList(lane.random, kind.hasProtobuf)
  const selector = `labelSelector=${encodeURIComponent(`${laneLabel}=${lane.model.lane}`)}`
  const limit = lane.random.below(2) === 0 ? '' : `limit=${1 + lane.random.below(3)}`
  const path = withQuery(lane.collection(kind), selector, limit)
  const pages: Buffer[] = []
  for (let next = ''; ; ) {
    // Only JSON responses are parsed for the continue token; of other representations one page is read.
    const page = await lane.client.call({ verb: 'list', method: 'GET', path: withQuery(path, next), as, expect: [200] })
    if (!page.isOk) return
    pages.push(page.response.body)
    const token = /"continue": ?"([^"]+)"/.exec(page.response.body.toString('latin1', 0, 2000))?.[1]
    if (token === undefined) break
    next = `continue=${token}`
  }
  if (limit !== '' && !as.accept.startsWith('application/json')) return
  checkList(lane, pages, lane.model.present(kind), as)
}

function checkList(lane: Lane, pages: readonly Buffer[], expected: readonly Key[], as: Representation): void {
  const listName = `list of ${expected[0]?.kind.resource ?? 'nothing'} of ${lane.model.lane} as ${as.name}`
  for (const { name, possible } of expected) {
    const id = possible[0]?.id ?? ''
    if (!pages.some((page) => page.includes(id) && page.includes(name)))
      lane.client.checks.addFinding('lost write', `no ${name} of ${id} in the ${listName}`)
  }
  if (as.isJson !== true) return
  const items = pages.flatMap((page) => (JSON.parse(page.toString()) as JsonObject).items)
  for (const key of expected) {
    const item = items.find(({ metadata }) => metadata.name === key.name)
    const difference =
      item === undefined || key.possible[0] === undefined ? undefined : differenceFrom(key.kind, lane.tenant, item, key.possible[0])
    if (difference !== undefined) lane.client.checks.addFinding('lost write', `${key.name} in the ${listName}: ${difference}`)
  }
  for (const { metadata } of items) {
    const isOwn = metadata.namespace === lane.tenant.namespace && metadata.labels?.[laneLabel] === lane.model.lane
    if (!isOwn) lane.client.checks.addFinding('response to another request', `${metadata.namespace}/${metadata.name} in the ${listName}`)
  }
}

/** Everything of one kind in the namespace, also as of an earlier time: other lanes write it, so only marks are checked. */
export async function listAll(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const as = pickForList(lane.random, kind.hasProtobuf)
  const queries = [
    '',
    'resourceVersion=0',
    'resourceVersion=0&limit=2',
    'limit=3',
    `fieldSelector=metadata.namespace%3D${lane.tenant.namespace}`,
  ]
  const path = withQuery(lane.collection(kind), lane.random.pick(queries))
  await lane.client.call({ verb: 'list', method: 'GET', path, as, expect: [200] })
}

/** The tenant's cluster-scoped objects, for which its permissions name each single one. */
export async function useClusterScoped(lane: Lane): Promise<void> {
  const name = lane.random.pick(classNames(lane.tenant))
  const path = `${priorityClasses}/${name}`
  const { mark } = lane.tenant
  const as = pickForObject(lane.random, true)
  switch (lane.random.below(3)) {
    case 0:
      await lane.client.call({ verb: 'get', method: 'GET', path, as, contains: [name, mark], expect: [200] })
      return
    case 1: {
      const listPath = withQuery(priorityClasses, `fieldSelector=metadata.name%3D${name}`)
      await lane.client.call({ verb: 'list', method: 'GET', path: listPath, as: json, contains: [name, mark], expect: [200] })
      return
    }
    default: {
      const id = lane.ids.next()
      const body = Buffer.from(JSON.stringify({ metadata: { annotations: { [`last-${lane.model.lane}`]: id, mark } } }))
      const contentType = 'application/merge-patch+json'
      await lane.client.call({ verb: 'merge patch', method: 'PATCH', path, body, contentType, as, contains: [name, id], expect: [200] })
    }
  }
}
