// Rules over long texts: one step of an expression, or one pattern, that takes some hundred milliseconds is not taken on the event loop.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { compileExpression } from '../../src/cel/compile.js'
import { valueOfJson } from '../../src/cel/data.js'
import { policyEnvironment } from '../../src/cel/policy.js'
import { expectStatus, newNamespace, until } from '../kit/fixtures.js'
import { longestTurnMs, turnWatchFlags } from '../kit/longest-turn.js'
import { randomFrom } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({
    nodeFlags: turnWatchFlags,
    flags: ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true'],
  })
})
after(() => server.stop())

const definitionsPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const mostTurnMs = 50
const random = randomFrom(11)
const a = 'a'.repeat(400_000)
/** For a pattern with so many states that none is met twice. */
const mixed = Array.from({ length: 60_000 }, () => 'ab'[random.below(2)]).join('')
const pattern = '[ab]*a[ab]{200}[c-e]'

/** Each is false, so that the answer tells that it was asked. */
const rules: Readonly<Record<string, { readonly rule: string; readonly text: string }>> = {
  findAll: { rule: 'self.text.findAll("a").size() == 1', text: a },
  matches: { rule: `self.text.matches("${pattern}")`, text: mixed },
}

async function define(plural: string, text: object, validations: readonly object[]): Promise<string> {
  const group = 'texts.example.com'
  const kind = plural.replace(/^./, (letter) => letter.toUpperCase())
  const openAPIV3Schema = { type: 'object', properties: { text }, 'x-kubernetes-validations': validations }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  const names = { plural, singular: plural, kind, listKind: `${kind}List` }
  const definition = { metadata: { name: `${plural}.${group}` }, spec: { group, scope: 'Cluster', names, versions } }
  expectStatus(await server.client.post(definitionsPath, definition), 201)
  const path = `/apis/${group}/v1/${plural}`
  await until(
    () => server.client.get(path),
    ({ status }) => status === 200,
  )
  return path
}

const post = (path: string, text: string): Promise<{ readonly status: number; readonly text: string }> => {
  const plural = path.split('/').at(-1) as string
  const kind = plural.replace(/^./, (letter) => letter.toUpperCase())
  return server.client.post(path, { apiVersion: 'texts.example.com/v1', kind, metadata: { name: 'one' }, text })
}

/** How long it would take in one go. */
function processorMs(expression: string, text: string): number {
  const program = compileExpression(expression.replaceAll('self.', 'object.'), policyEnvironment(false))
  const before = process.cpuUsage()
  const { value } = program.evaluate({ object: valueOfJson({ text }) }, 1_000_000)
  const { user, system } = process.cpuUsage(before)
  assert.equal(value, false)
  return (user + system) / 1000
}

test('nobody waits for rules over long texts', async () => {
  const slow: Record<string, number> = {}
  let index = 0
  for (const [name, { rule, text }] of Object.entries(rules)) {
    // A slow machine takes longer for everything.
    const mostMs = Math.max(mostTurnMs, processorMs(rule, text) / 3)
    const path = await define(`rules${++index}s`, { type: 'string', maxLength: 500_000 }, [{ rule, message: 'asked and refused' }])
    const turnMs = await longestTurnMs(
      server,
      async () => {
        const answer = await post(path, text)
        assert.equal(answer.status, 422, answer.text.slice(0, 300))
        assert.match(answer.text, /asked and refused/)
      },
      mostMs,
    )
    if (turnMs > mostMs) slow[name] = turnMs
  }
  assert.deepEqual(slow, {})
})

test('nobody waits for patterns of schemas', async () => {
  const mostMs = Math.max(mostTurnMs, processorMs(`self.text.matches('${pattern}')`, mixed) / 3)
  const path = await define('patterns', { type: 'string', pattern }, [])
  const turnMs = await longestTurnMs(
    server,
    async () => {
      const answer = await post(path, mixed)
      assert.equal(answer.status, 422)
      assert.match(answer.text, /should match/)
    },
    mostMs,
  )
  assert.ok(turnMs <= mostMs, `${turnMs} ms`)
})

test('nobody waits for policies about long texts', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const group = '/apis/admissionregistration.cluster.io/v1alpha1'
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const spec = {
    failurePolicy: 'Ignore',
    matchConstraints: { resourceRules },
    validations: [{ expression: `!has(object.data) || !has(object.data.text) || object.data.text.matches('${pattern}')` }],
  }
  expectStatus(await client.post(`${group}/validatingadmissionpolicies`, { metadata: { name: 'texts' }, spec }), 201)
  const bound = { policyName: 'texts', matchResources: { namespaceSelector: { matchLabels: { [metadataName]: namespace } } } }
  expectStatus(await client.post(`${group}/validatingadmissionpolicybindings`, { metadata: { name: 'texts' }, spec: bound }), 201)
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`
  const ask = (text: string) => client.post(path, { metadata: { name: 'one' }, data: { text } })
  await until(
    () => ask('short'),
    ({ status }) => status === 422,
  )
  const mostMs = Math.max(mostTurnMs, processorMs(`self.text.matches('${pattern}')`, mixed) / 3)
  const turnMs = await longestTurnMs(server, async () => assert.equal((await ask(mixed)).status, 422), mostMs)
  assert.ok(turnMs <= mostMs, `${turnMs} ms`)
})

const metadataName = 'cluster.io/metadata.name'
