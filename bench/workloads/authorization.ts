// RBAC: requests of a user with five bindings among 2,000 of other users, the first request after a change, the memory of bindings.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Catalog } from '../../packages/api/src/api/catalog/catalog.js'
import type { Resource } from '../../packages/api/src/api/catalog/resource.js'
import { identityOf } from '../../packages/api/src/api/identity.js'
import type { ApiObject } from '../../packages/api/src/api/object.js'
import { definitions } from '../../packages/api/src/resources/index.js'
import { RbacIndex } from '../../packages/server/src/auth/rbac/rbac-index.js'
import { storeOfBoxes } from '../../packages/server/src/objects/box-store.fixture.js'
import { Connection, requestBytes } from '../connection.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, median, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const token = 'token-of-a-user-with-rights'
const rbac = '/apis/rbac.authorization.cluster.io/v1'
const bindingCount = 2000
const namespaceCount = 20
const rule = { apiGroups: [''], resources: ['configmaps', 'secrets', 'pods'], verbs: ['get', 'list', 'watch', 'create'] }
const roleText = (name: string): string => JSON.stringify({ metadata: { name }, rules: [rule, { ...rule, apiGroups: ['apps'] }] })
const bindingText = (name: string, role: string, user: string): string =>
  JSON.stringify({
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'Role', name: role },
    subjects: [{ kind: 'User', name: user }],
  })

export async function measureAuthorization(lab: Lab): Promise<readonly Line[]> {
  const tokens = join(lab.folder, 'users.csv')
  writeFileSync(tokens, `${token},ann,ann-uid,"devs,readers"\n`, { mode: 0o600 })
  const { served } = await lab.start([`--token-auth-file=${tokens}`])
  const user: Served = { ...served, token }
  const path = await makeNamespace(served, 'bench-access')
  await fill(served, { path, count: 1, body: () => configMapText({ name: 'object', bytes: 1024 }) })
  await fillBindings(served)
  return [
    await compareUsers(lab, { workload: 'get, 1 KB, user among 2,000 bindings / admin', expect: 200, admin: served, user }, () => ({
      method: 'GET',
      path: `${path}/object`,
    })),
    await compareUsers(
      lab,
      { workload: 'create, 1 KB, user among 2,000 bindings / admin', expect: 201, admin: served, user },
      (side, counter) => ({
        method: 'POST',
        path,
        body: configMapText({ name: `c-${side}-${counter}`, bytes: 1024 }),
      }),
    ),
    await firstAfterChange({ admin: served, user, path }),
    await memoryOfBindings(),
  ]
}

/** Creates 2,000 roles and bindings of other users, and five of the user. */
async function fillBindings(served: Served): Promise<void> {
  for (let i = 0; i < namespaceCount; i++) {
    await makeNamespace(served, `bench-rights-${i}`)
    const rbacPath = `${rbac}/namespaces/bench-rights-${i}`
    const count = bindingCount / namespaceCount
    await fill(served, { path: `${rbacPath}/roles`, count, body: (j) => roleText(`role-${j}`) })
    await fill(served, { path: `${rbacPath}/rolebindings`, count, body: (j) => bindingText(`binding-${j}`, `role-${j}`, `user-${j}`) })
  }
  const rbacPath = `${rbac}/namespaces/bench-access`
  // Only the last of the five roles allows the requests.
  await fill(served, {
    path: `${rbacPath}/roles`,
    count: 5,
    body: (i) =>
      i === 4 ? roleText('own-4') : JSON.stringify({ metadata: { name: `own-${i}` }, rules: [{ ...rule, resources: ['services'] }] }),
  })
  for (let i = 0; i < 5; i++)
    await fill(served, { path: `${rbacPath}/rolebindings`, count: 1, body: () => bindingText(`own-${i}`, `own-${i}`, 'ann') })
}

interface Compared {
  readonly workload: string
  readonly expect: number
  readonly admin: Served
  readonly user: Served
}

type Next = (side: string, counter: number) => { readonly method: string; readonly path: string; readonly body?: string }

async function compareUsers(lab: Lab, { workload, expect, admin, user }: Compared, next: Next): Promise<Line> {
  const sideOf = async (served: Served, name: string): Promise<Side> => {
    const generator = await lab.generator(served, 8)
    return { run: (durationMs) => generator.run({ durationMs, expect, next: (_, counter) => requestBytes(served, next(name, counter)) }) }
  }
  const { floor, server, ratio, perSecond } = await compare(await sideOf(admin, 'a'), await sideOf(user, 'u'), lab.rounds)
  return { workload, floor: microseconds(floor), server: microseconds(server), ratio, bar: 1.15, note: `${perSecond.toFixed(0)}/s` }
}

const maxDelayMs = 5

/** Duration of the first request after a binding was deleted or created. Fails if the request does not see the change. */
async function firstAfterChange({
  admin,
  user,
  path,
}: {
  readonly admin: Served
  readonly user: Served
  readonly path: string
}): Promise<Line> {
  const binding = `${rbac}/namespaces/bench-access/rolebindings/own-4`
  const connection = await Connection.open(user)
  const get = requestBytes(user, { method: 'GET', path: `${path}/object` })
  const times: number[] = []
  for (let i = 0; i < 50; i++) {
    const isDeleted = i % 2 === 0
    if (isDeleted) await fetchOnce(admin, { method: 'DELETE', path: binding })
    else
      await fill(admin, {
        path: `${rbac}/namespaces/bench-access/rolebindings`,
        count: 1,
        body: () => bindingText('own-4', 'own-4', 'ann'),
      })
    const begun = performance.now()
    const status = await connection.exchange(get)
    times.push(performance.now() - begun)
    if (status !== (isDeleted ? 403 : 200)) throw new Error(`after the change the response was ${status}`)
  }
  connection.close()
  const medianMs = median(times)
  return {
    workload: 'first request after a binding changed',
    floor: `${maxDelayMs} ms`,
    server: microseconds(medianMs * 1000),
    ratio: medianMs / maxDelayMs,
    bar: 1,
    note: `longest ${microseconds(Math.max(...times) * 1000)}`,
  }
}

const indexedBindings = 10_000
/** Maximum heap bytes of 1,000 bindings in the index. */
const maxIndexBytes = 1 << 20

/** Heap bytes per 1,000 bindings of the binding index, measured in this process. */
async function memoryOfBindings(): Promise<Line> {
  const identity = identityOf('cluster')
  const catalog = new Catalog({ identity, definitions, isServed: () => true })
  const resource = catalog.find(identity.group({ stem: 'rbac.authorization' }), 'v1', 'rolebindings') as Resource
  const store = await storeOfBoxes(1)
  for (let i = 0; i < indexedBindings; i++) {
    const [namespace, name] = [`namespace-${i % 500}`, `binding-${i}`]
    const object = JSON.parse(bindingText(name, `role-${i}`, `user-${i % 3000}`)) as ApiObject
    const metadata = { name, namespace, uid: `uid-${i}`, creationTimestamp: '2020-01-01T00:00:00Z' }
    await store.put({ resource, namespace, name }, store.encode(resource, { ...object, metadata }), { expect: 0 })
  }
  const before = heapUsed()
  const index = new RbacIndex(store, catalog)
  await index.open()
  const each = ((heapUsed() - before) / indexedBindings) * 1000
  // Keeps the index reachable while the heap is measured.
  index.rulesNamed({ kind: 'ClusterRole', name: 'none', namespace: '' })
  return {
    workload: 'memory of 1,000 bindings',
    floor: '1024 KiB',
    server: `${(each / 1024).toFixed(0)} KiB`,
    ratio: each / maxIndexBytes,
    bar: 1,
  }
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
