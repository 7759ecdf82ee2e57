// Bodies and patches that took seconds or gigabytes, or caused responses of megabytes.

import { configMapOf, configMaps, expectStatus } from '../kit/fixtures.js'
import { fill, fillWith, listOf, recordOf } from '../linear/shape.js'
import { type Attack, outcomeOf, type Target, worstOf } from './attack.js'

const configMapsPath = configMaps('default')
const deployments = '/apis/apps/v1/namespaces/default/deployments'

const post = (finding: number, name: string, type: 'json' | 'yaml', make: () => string, path = configMapsPath): Attack => {
  const body = Buffer.from(make())
  return {
    finding,
    limit: 'largest',
    name,
    run: async ({ server }) =>
      outcomeOf(await server.client.send({ method: 'POST', path, body, headers: { 'content-type': `application/${type}` } })),
  }
}

const yaml = (name: string, make: () => string): Attack => post(1, name, 'yaml', make)
const json = (name: string, make: () => string): Attack => post(3, name, 'json', make)

const maxBytes = 2_900_000
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hostile}\n'
const jsonHead = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hostile"},'
const mapOf = (bytes: number): string => fillWith((i) => `k${i}: v`, ', ', bytes)

const yamlAttacks: readonly Attack[] = [
  yaml(
    'a tag handle of 300,000 characters and 40,000 uses',
    () => `%TAG !a! tag:${fill('x', 300_000)}\n---\n[${fill('!a!x 1,', 280_000)}]`,
  ),
  yaml('merge keys', () => `${head}a: &a {${mapOf(maxBytes / 2)}}\nb: {${fill('<<: *a,', maxBytes / 2)}}`),
  yaml('a merge of a list', () => `${head}a: &a {${mapOf(maxBytes / 2)}}\nb: {<<: [${fill('*a,', maxBytes / 2)}]}`),
  yaml('a flow map of 3 MB', () => `{apiVersion: v1, kind: ConfigMap, metadata: {name: hostile}, data: {${mapOf(maxBytes)}}}`),
  yaml('wide aliases', () => `${head}a: &a [${fill('x,', maxBytes / 2)}]\nb: [${fill('*a,', maxBytes / 2)}]`),
]

const jsonAttacks: readonly Attack[] = [
  json('a member that repeats and grows, 8,000 times', () => `${jsonHead}${fillWith((i) => `"data":{"k${i}":""}`, ',', 160_000)}}`),
  json('a member that repeats and grows, 3 MB', () => `${jsonHead}${fillWith((i) => `"data":{"k${i}":""}`, ',', maxBytes)}}`),
  json(
    'a name of 20,000 characters with members below',
    () => `${jsonHead}"${fill('n', 20_000)}":{${fillWith((i) => `"k${i}":1`, ',', 16_000)}}}`,
  ),
  json(
    'a name of 1 MB with members below',
    () => `${jsonHead}"${fill('n', 1_000_000)}":{${fillWith((i) => `"k${i}":1`, ',', maxBytes - 1_000_000)}}}`,
  ),
  json('200,000 keys and one duplicate', () => `${jsonHead}"data":{${fillWith((i) => `"k${i}":""`, ',', maxBytes - 100)},"k0":""}}`),
  json('an integer of a million digits', () => `${jsonHead}"odd":${fill('1', 1_000_000)}}`),
  post(3, 'replicas of a million digits', 'json', () => `{"spec":{"replicas":${fill('1', 1_000_000)}}}`, deployments),
]

const requestAttack = (
  finding: number,
  name: string,
  run: (target: Target, round: number) => ReturnType<Target['anonymous']['send']>,
): Attack => ({
  finding,
  limit: 'largest',
  name,
  run: async (target, round) => outcomeOf(await run(target, round)),
})

const makeDeployment = (name: string, expressions: unknown): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchExpressions: expressions },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
  },
})

const objectWithFinalizers = 'hostile-many'
const thingsPath = '/apis/hostile.example/v1/namespaces/default/things'

/** A CRD without a fixed schema. */
const crd = {
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.hostile.example' },
  spec: {
    group: 'hostile.example',
    names: { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, 'x-cluster-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

const patchAttacks: readonly Attack[] = [
  {
    finding: 6,
    limit: 'largest',
    name: '10,000 finalizers by strategic patch',
    prepare: async ({ server }) => {
      const finalizers = listOf(5000, (i) => `e.example/${i}`)
      expectStatus(await server.client.post(configMapsPath, configMapOf(objectWithFinalizers, { finalizers })), 201)
    },
    run: async ({ server }, round) => {
      const finalizers = listOf(10_000, (i) => `f${round}.example/${i}`)
      return outcomeOf(
        await server.client.patch(configMaps('default', objectWithFinalizers), 'application/strategic-merge-patch+json', {
          metadata: { finalizers },
        }),
      )
    },
  },
  requestAttack(6, '40,000 keys of managed fields', ({ server }, round) => {
    const fields = recordOf(40_000, (i) => [`k:{"name":"${(i * 7919) % 99_991}-${i}"}`, {}])
    const managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': fields } }]
    return server.client.post(`${configMapsPath}?dryRun=All`, {
      ...configMapOf(`keys-${round}`),
      metadata: { name: `keys-${round}`, managedFields },
    })
  }),
  {
    finding: 6,
    limit: 'largest',
    name: '2,000 inserts at the head of 300,000 items',
    prepare: async ({ server }) => {
      expectStatus(await server.client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', crd), 201)
      const thing = { apiVersion: 'hostile.example/v1', kind: 'Thing', metadata: { name: 'list' }, list: listOf(300_000, () => 1) }
      let response = await server.client.post(thingsPath, thing)
      for (let i = 0; i < 100 && response.status === 404; i++) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        response = await server.client.post(thingsPath, thing)
      }
      expectStatus(response, 201)
    },
    run: async ({ server }) => {
      const patch = listOf(2000, () => ({ op: 'add', path: '/list/0', value: 2 }))
      return outcomeOf(await server.client.patch(`${thingsPath}/list?dryRun=All`, 'application/json-patch+json', patch))
    },
  },
  requestAttack(6, '50,000 requirements of a selector', ({ server }) =>
    server.client.post(
      deployments,
      makeDeployment(
        'requirements',
        listOf(50_000, (i) => ({ key: `k${i}`, operator: 'In', values: ['v'] })),
      ),
    ),
  ),
  requestAttack(6, '50,000 bad requirements of a selector', ({ server }) =>
    server.client.post(
      deployments,
      makeDeployment(
        'bad',
        listOf(50_000, (i) => ({ key: `-${i}`, operator: 'No', values: ['-'] })),
      ),
    ),
  ),
  requestAttack(6, '150,000 bad values of a selector', ({ server }) =>
    server.client.post(deployments, makeDeployment('values', [{ key: 'k', operator: 'In', values: listOf(150_000, (i) => `-${i}`) }])),
  ),
]

const edgeCaseAttacks: readonly Attack[] = [
  {
    finding: 8,
    limit: 'largest',
    name: 'a JSON patch that nests past 1,000 levels by moves',
    prepare: async ({ server }) => void expectStatus(await server.client.post(configMapsPath, configMapOf('hostile-moves')), 201),
    run: async ({ server }) => {
      const patch = [
        { op: 'add', path: '/x0', value: {} },
        ...listOf(3000, (i) => [
          { op: 'add', path: `/x${i + 1}`, value: {} },
          { op: 'move', from: `/x${i}`, path: `/x${i + 1}/in` },
        ]).flat(),
      ]
      return outcomeOf(await server.client.patch(configMaps('default', 'hostile-moves'), 'application/json-patch+json', patch))
    },
  },
  requestAttack(8, 'a version above 2^53', ({ server }) =>
    server.client.get(`${configMapsPath}?resourceVersion=9007199254740993&resourceVersionMatch=Exact`),
  ),
  post(8, 'an unknown field with a name of 2.9 MB', 'json', () => `${jsonHead}"${fill('n', maxBytes)}":1}`, `${configMapsPath}?dryRun=All`),
  post(
    8,
    'an unknown field with a name of 2.9 MB, strict validation',
    'json',
    () => `${jsonHead}"${fill('n', maxBytes)}":1}`,
    `${configMapsPath}?fieldValidation=Strict`,
  ),
  post(
    8,
    '200,000 unknown fields',
    'json',
    () => `${jsonHead}${fillWith((i) => `"odd${i}":1`, ',', maxBytes)}}`,
    `${configMapsPath}?dryRun=All`,
  ),
]

const concurrentRequests = 20
/** Below the size that always goes to a worker thread. */
const longBytes = 450_000

/** Concurrent bodies that are cheap alone, but may all end in one event-loop iteration. */
const concurrentAttack = (finding: number, name: string, type: 'json' | 'yaml' | 'apply-patch+yaml', dataOf: () => string): Attack => {
  const data = dataOf()
  return {
    finding,
    limit: 'largest',
    name: `${concurrentRequests} at once: ${name}`,
    run: async ({ server }, round) => {
      const send = (i: number) => {
        const object = `together-${name.replaceAll(/[^a-z]+/g, '-')}-${round}-${i}`
        const isApply = type === 'apply-patch+yaml'
        const body =
          type === 'json'
            ? `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${object}"},"data":${data}}`
            : `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${object}}\ndata:\n${data}\n`
        const path = isApply ? `${configMaps('default', object)}?fieldManager=hostile` : configMapsPath
        return server.client.send({ method: isApply ? 'PATCH' : 'POST', path, body, headers: { 'content-type': `application/${type}` } })
      }
      const responses = await Promise.all(listOf(concurrentRequests, send))
      for (const response of responses) expectStatus(response, 201)
      return worstOf(responses.map(outcomeOf))
    },
  }
}

const parallelAttacks: readonly Attack[] = [
  concurrentAttack(1, 'a quoted scalar in yaml', 'yaml', () => `  a: "${fill('z', longBytes)}"`),
  concurrentAttack(1, 'a plain scalar in yaml', 'yaml', () => `  a: ${fill('z', longBytes)}`),
  concurrentAttack(1, 'a block scalar in yaml', 'yaml', () => `  a: |\n    ${fill('z', longBytes)}`),
  concurrentAttack(1, 'a scalar of words in yaml', 'yaml', () => `  a: "${fill('z ', longBytes)}"`),
  concurrentAttack(1, 'escapes in yaml', 'yaml', () => `  a: "${fill('\\t', longBytes)}"`),
  concurrentAttack(1, 'members in yaml', 'yaml', () => fillWith((i) => `  k${i}: ${fill('z', 220)}`, '\n', longBytes)),
  concurrentAttack(1, 'a text that is applied', 'apply-patch+yaml', () => `  a: "${fill('z', longBytes)}"`),
  concurrentAttack(3, 'a text in json', 'json', () => `{"a":"${fill('z', longBytes)}"}`),
  concurrentAttack(3, 'escapes in json', 'json', () => `{"a":"${fill('\\t', longBytes)}"}`),
  concurrentAttack(3, 'members in json', 'json', () => `{${fillWith((i) => `"k${i}":"${fill('z', 220)}"`, ',', longBytes)}}`),
]

export const bodyAttacks: readonly Attack[] = [...yamlAttacks, ...jsonAttacks, ...patchAttacks, ...edgeCaseAttacks, ...parallelAttacks]
