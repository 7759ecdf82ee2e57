// Priority and fairness of a whole server: response headers, configuration changes, dumps, metrics.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'

const folder = mkdtempSync(join(tmpdir(), 'flow-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const tokens = join(folder, 'tokens.csv')
writeFileSync(tokens, 'carol-token,carol,carol-uid\n', { mode: 0o600 })

const group = '/apis/flowcontrol.apiserver.cluster.io/v1beta3'
const apiVersion = 'flowcontrol.apiserver.cluster.io/v1beta3'

describe('priority and fairness', () => {
  let embedded: Embedded
  let carol: ApiClient
  before(async () => {
    embedded = await startEmbedded('memory', [`--token-auth-file=${tokens}`, '--authorization-mode=AlwaysAllow'])
    carol = new ApiClient({ url: embedded.server.url, ca: embedded.server.caPem, token: 'carol-token' })
  })
  after(async () => {
    carol.close()
    await embedded.close()
  })

  /** Flow schema and priority level of a request by carol. */
  async function takenBy(path = '/api/v1/namespaces/default/configmaps'): Promise<readonly string[]> {
    const { headers } = await carol.get(path)
    const names = await Promise.all(
      [
        ['flowschemas', 'flowschema'],
        ['prioritylevelconfigurations', 'prioritylevel'],
      ].map(async ([plural, header]) => {
        const { items } = (await embedded.client.get(`${group}/${plural}`)).json as unknown as {
          items: readonly { metadata: { name: string; uid: string } }[]
        }
        return items.find(({ metadata }) => metadata.uid === headers[`x-cluster-pf-${header}-uid`])?.metadata.name ?? ''
      }),
    )
    return names
  }

  test('responses name flow schema and priority level, and changes apply to the next request', async () => {
    assert.deepEqual(await takenBy(), ['global-default', 'global-default'])
    const spec = {
      matchingPrecedence: 500,
      priorityLevelConfiguration: { name: 'own' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'carol' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'], namespaces: ['*'] }],
        },
      ],
    }
    await embedded.client.post(`${group}/flowschemas`, { apiVersion, kind: 'FlowSchema', metadata: { name: 'own' }, spec })
    assert.deepEqual(await takenBy(), ['global-default', 'global-default'], 'its priority level does not exist yet')
    const limited = { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } }
    const level = { apiVersion, kind: 'PriorityLevelConfiguration', metadata: { name: 'own' }, spec: { type: 'Limited', limited } }
    await embedded.client.post(`${group}/prioritylevelconfigurations`, level)
    assert.deepEqual(await takenBy(), ['own', 'own'])
    assert.deepEqual(await takenBy('/version'), ['global-default', 'global-default'])
    assert.deepEqual(await takenBy('/livez'), ['probes', 'exempt'])
    await embedded.client.delete(`${group}/flowschemas/own`)
    assert.deepEqual(await takenBy(), ['global-default', 'global-default'])
  })

  test('debug dumps and metrics', async () => {
    await carol.get('/version')
    const dump = async (name: string): Promise<string> => (await embedded.client.get(`/debug/api_priority_and_fairness/${name}`)).text
    assert.match(
      await dump('dump_priority_levels'),
      /^PriorityLevelName, +ActiveQueues, +IsIdle, [\s\S]*\nexempt, +<none>, [\s\S]*\nglobal-default, +0, +true, /,
    )
    assert.match(await dump('dump_queues'), /^PriorityLevelName, +Index, [\s\S]*\nglobal-default, +127, /)
    assert.match(await dump('dump_requests'), /^PriorityLevelName, +FlowSchemaName, /)
    assert.equal(await dump('dump_nothing'), '404 page not found\n')
    const { text } = await embedded.client.get('/metrics')
    assert.match(
      text,
      /^apiserver_flowcontrol_dispatched_requests_total\{flow_schema="global-default",priority_level="global-default"\} [1-9]/m,
    )
    assert.match(text, /^apiserver_flowcontrol_request_concurrency_limit\{priority_level="global-default"\} \d+$/m)
    assert.match(text, /^apiserver_flowcontrol_request_wait_duration_seconds_count\{execute="true",flow_schema="global-default"/m)
  })
})

test('without priority and fairness responses have no headers of it', async () => {
  const embedded = await startEmbedded('memory', ['--enable-priority-and-fairness=false'])
  const { headers } = await embedded.client.get('/version')
  assert.equal(headers['x-cluster-pf-flowschema-uid'], undefined)
  await embedded.close()
})
