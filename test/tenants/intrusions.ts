// Requests that must fail: to objects of other tenants, and with malformed, invalid or too large bodies. And reviews.

import { collectionOf, type Kind, kinds, secretKind } from './kinds.js'
import type { Lane } from './lane.js'
import { encode, json, pickForList, pickForObject, withQuery } from './representations.js'
import { classNames, priorityClasses } from './setup.js'
import { systemNamespace, type Tenant } from './tenant.js'
import { payloadText } from './workload/payload.js'

/** A request to another tenant's objects, or to the system's: always 403. */
export async function intrude(lane: Lane, others: readonly Tenant[]): Promise<void> {
  const victim = lane.random.pick(others)
  const isSystem = lane.random.below(3) === 0
  const kind = isSystem ? secretKind : lane.random.pick(kinds)
  const namespace = isSystem ? systemNamespace : victim.namespace
  const collection = collectionOf(kind, lane.pickApiVersion(kind), namespace)
  // A name that a lane of the victim probably uses, or one of the system's Secrets.
  const name = isSystem ? lane.random.pick(systemSecrets) : `${victim.char}${lane.random.below(3)}-${1 + lane.random.below(40)}`
  const as = pickForObject(lane.random, kind.hasProtobuf)
  const forbidden = { as, expect: [403] }
  const query = lane.random.pick(['', 'timeout=1s', 'pretty=true'])
  switch (lane.random.below(7)) {
    case 0:
    case 1:
      await lane.client.call({ verb: 'forbidden get', method: 'GET', path: withQuery(`${collection}/${name}`, query), ...forbidden })
      return
    case 2:
      await lane.client.call({
        verb: 'forbidden list',
        method: 'GET',
        path: withQuery(collection, query),
        ...forbidden,
        as: pickForList(lane.random, kind.hasProtobuf),
      })
      return
    case 3:
      await lane.client.call({
        verb: 'forbidden watch',
        method: 'GET',
        path: withQuery(collection, 'watch=1&timeoutSeconds=1'),
        ...forbidden,
      })
      return
    case 4:
      await forbiddenWrite(lane, kind, { collection, name })
      return
    case 5:
      await lane.client.call({ verb: 'forbidden delete', method: 'DELETE', path: `${collection}/${name}`, ...forbidden })
      return
    default: {
      const path = lane.random.pick([
        `${priorityClasses}/${classNames(victim)[0]}`,
        priorityClasses,
        `/api/v1/namespaces/${victim.namespace}`,
        '/api/v1/secrets',
      ])
      await lane.client.call({ verb: 'forbidden get', method: 'GET', path, expect: [403] })
    }
  }
}

export const systemSecrets = ['small', 'large-0', 'large-1']

async function forbiddenWrite(
  lane: Lane,
  kind: Kind,
  { collection, name }: { readonly collection: string; readonly name: string },
): Promise<void> {
  const version = lane.newVersion(kind)
  const apiVersion = lane.pickApiVersion(kind)
  const body = encode(lane.object({ kind, name, possible: [undefined] }, version, apiVersion), 'JSON')
  const isCreate = lane.random.below(2) === 0
  await lane.client.call({
    verb: 'forbidden write',
    method: isCreate ? 'POST' : lane.random.pick(['PUT', 'PATCH']),
    path: withQuery(isCreate ? collection : `${collection}/${name}`, lane.random.pick(['', 'dryRun=All'])),
    body,
    ...(isCreate ? {} : { contentType: 'application/json' }),
    expect: isCreate ? [403] : [403, 415],
  })
}

/** Bodies that the server rejects, some with messages that quote them. */
export async function sendInvalid(lane: Lane): Promise<void> {
  const { random, tenant } = lane
  const { mark } = tenant
  const kind = lane.pickKind()
  const apiVersion = lane.pickApiVersion(kind)
  const id = lane.ids.next()
  const bytes = random.pick([500, 40_000, 400_000, 1_300_000, 2_500_000])
  const payload = payloadText(mark, id, bytes)
  const object = lane.object(
    { kind, name: `${lane.model.lane}-invalid`, possible: [] },
    { id, payloadId: id, payloadBytes: 100 },
    apiVersion,
  )
  const bodies: readonly (() => readonly [Buffer, string, readonly number[]])[] = [
    () => [Buffer.from(`${JSON.stringify({ ...object, junk: payload }).slice(0, -1)},"${mark}":`), 'application/json', [400]],
    () => [Buffer.from(`${mark}: [${payload}\n  - x: : ${mark}`), 'application/yaml', [400]],
    () => [encode({ ...object, metadata: { ...object.metadata, name: `${mark}_${id}!` } }, 'JSON'), 'application/json', [422]],
    () => [
      encode({ ...object, metadata: { ...object.metadata, labels: { [mark]: payload.slice(0, 5000) } } }, 'JSON'),
      'application/json',
      [422],
    ],
    () => [
      encode({ ...object, metadata: { ...object.metadata, annotations: { [mark]: payloadText(mark, id, 300_000) } } }, 'JSON'),
      'application/json',
      [422],
    ],
    () => [encode({ ...object, kind: mark }, 'JSON'), 'application/json', [400, 422]],
    () => [encode({ ...object, [`unknown-${mark}`]: payload }, 'JSON'), 'application/json', [400]],
    () => [encode({ ...object, metadata: { ...object.metadata, namespace: `other-${mark}` } }, 'JSON'), 'application/json', [400]],
    () => [encode({ ...object, data: mark, spec: payload }, 'YAML'), 'application/yaml', [400, 422]],
    () => [Buffer.from(payloadText(mark, id, 3_300_000)), 'application/json', [413]],
  ]
  const [body, contentType, expect] = random.pick(bodies)()
  await lane.client.call({
    verb: 'create invalid',
    method: 'POST',
    path: withQuery(lane.collection(kind, apiVersion), `fieldManager=${mark}&fieldValidation=Strict`),
    body,
    contentType,
    as: pickForObject(random, kind.hasProtobuf),
    expect,
    // The server may close a connection that sends more than it accepts.
    mayBeClosed: expect.includes(413),
  })
}

export async function review(lane: Lane, others: readonly Tenant[]): Promise<void> {
  const { mark, namespace } = lane.tenant
  const victim = lane.random.pick(others)
  const group = '/apis/authorization.cluster.io/v1'
  const as = pickForObject(lane.random, true)
  const isRules = lane.random.below(2) === 0
  const resourceAttributes = { namespace: lane.random.pick([namespace, victim.namespace]), verb: 'get', resource: 'secrets', name: mark }
  const called = await lane.client.call({
    verb: 'review',
    method: 'POST',
    path: isRules ? `${group}/selfsubjectrulesreviews` : `${group}/selfsubjectaccessreviews`,
    body: encode({ spec: isRules ? { namespace } : { resourceAttributes } }, 'JSON'),
    as: as.isPartial === true ? json : as,
    contains: [mark],
    expect: [201],
  })
  if (isRules || !called.isOk || as.isJson !== true) return
  const { status } = JSON.parse(called.response.body.toString()) as { readonly status: { readonly allowed: boolean } }
  if (status.allowed !== (resourceAttributes.namespace === namespace))
    lane.client.checks.addFinding(
      'response to another request',
      `${lane.tenant.user} may read Secrets of ${resourceAttributes.namespace}: ${status.allowed}`,
    )
}
