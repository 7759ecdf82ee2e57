// `top` against an extension API server that serves the metrics API.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { clientOf } from '../../../test/kit/embedded.js'
import { apiServices, ExtensionServer, serviceName, waitFor } from '../../server/test/aggregation/extension-server.js'
import { useServer } from './harness.js'

const start = useServer()
const group = 'metrics.cluster.io'
const apiVersion = `${group}/v1beta1`

const nodeMetrics = (name: string, cpu: string, memory: string) => ({ metadata: { name }, usage: { cpu, memory } })

const podMetrics = (namespace: string, name: string, containers: readonly (readonly [string, string, string])[]) => ({
  metadata: { name, namespace },
  containers: containers.map(([container, cpu, memory]) => ({ name: container, usage: { cpu, memory } })),
})

describe('top', { concurrency: 1 }, () => {
  let extension: ExtensionServer
  let nodes = [nodeMetrics('small', '250m', '512Mi'), nodeMetrics('large', '1234567n', '1048576Ki')]
  let pods = [
    podMetrics('default', 'web', [
      ['app', '35m', '20Mi'],
      ['log', '7m', '64Mi'],
    ]),
    podMetrics('default', 'api', [['app', '100m', '10Mi']]),
    podMetrics('shop', 'db', [['app', '1', '1Gi']]),
  ]
  let lastQuery = ''

  const send = (response: ServerResponse, code: number, document: object): true => {
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(document))
    return true
  }

  before(async () => {
    extension = await ExtensionServer.start(group)
    extension.behaviour = (request, response) => {
      const { pathname, search } = new URL(request.url ?? '', 'https://x')
      const root = `/apis/${apiVersion}`
      if (!pathname.startsWith(root)) return undefined
      const resource = (name: string, kind: string, namespaced: boolean) => ({
        name,
        singularName: '',
        namespaced,
        kind,
        verbs: ['get', 'list'],
      })
      const resources = [resource('nodes', 'NodeMetrics', false), resource('pods', 'PodMetrics', true)]
      if (pathname === root) return send(response, 200, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources })
      lastQuery = search
      const [, namespace, kind = '', name] = /^(?:\/namespaces\/([^/]+))?\/(nodes|pods)(?:\/(.+))?$/.exec(pathname.slice(root.length)) ?? []
      const all: readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[] = kind === 'nodes' ? nodes : pods
      const items = all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      if (name === undefined) return send(response, 200, { kind: 'List', apiVersion, metadata: {}, items })
      const item = items.find(({ metadata }) => metadata.name === name)
      if (item !== undefined) return send(response, 200, { apiVersion, ...item })
      const message = `${kind}.${group} "${name}" not found`
      return send(response, 404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404, message })
    }
  })
  after(() => extension.close())

  test('without the metrics API', async () => {
    const { runHere } = start()
    assert.deepEqual(await runHere(['top', 'pod']), { code: 1, stdout: '', stderr: 'error: Metrics API not available\n' })
    const { server } = start()
    const client = clientOf(server)
    await client.post('/api/v1/namespaces/default/services', {
      metadata: { name: serviceName },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    })
    const name = `v1beta1.${group}`
    await client.post(apiServices(), {
      metadata: { name },
      spec: {
        group,
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { namespace: 'default', name: serviceName, port: extension.port },
        caBundle: Buffer.from(extension.ca).toString('base64'),
      },
    })
    await waitFor(client, `${apiServices()}/${name}`, 'Passed')
    client.close()
    for (const [node, cpu] of [
      ['large', '8'],
      ['small', '2'],
      ['silent', '4'],
    ] as const) {
      await server.client.core.v1.nodes().create({ metadata: { name: node } })
      const memory = '4Gi'
      await server.client.core.v1.nodes().status.patch(node, { status: { capacity: { cpu: '16', memory }, allocatable: { cpu, memory } } })
    }
  })

  test('top node: usage, percentages, and nodes without metrics', async () => {
    const { runHere } = start()
    assert.deepEqual(await runHere(['top', 'node']), {
      code: 0,
      stdout:
        'NAME     CPU(cores)   CPU%        MEMORY(bytes)   MEMORY%     \n' +
        'large    2m           0%          1024Mi          25%         \n' +
        'small    250m         12%         512Mi           12%         \n' +
        'silent   <unknown>    <unknown>   <unknown>       <unknown>   \n',
      stderr: '',
    })
    const firstWords = (text: string): readonly string[] =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split(' ')[0] ?? '')
    assert.deepEqual(firstWords((await runHere(['top', 'nodes', '--sort-by=cpu', '--no-headers'])).stdout), ['small', 'large', 'silent'])
    assert.match((await runHere(['top', 'no', 'small', '--show-capacity'])).stdout, /\nsmall +250m +1% +512Mi +12% +\n$/)
    assert.match((await runHere(['top', 'node', 'none'])).stderr, /nodes\.metrics\.cluster\.io "none" not found/)
    await runHere(['top', 'node', '-l', 'zone=a'])
    assert.equal(lastQuery, '?labelSelector=zone%3Da')
    assert.match((await runHere(['get', 'nodes'])).stdout, /^NAME +STATUS/, '`nodes` still means the nodes of the core group')
  })

  test('top pod: containers, namespaces, order and sum', async () => {
    const { runHere } = start()
    const ok = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await runHere(['top', 'pod', ...args])
      assert.equal(code, 0, stderr)
      return stdout
    }
    assert.equal(
      await ok(),
      'NAME   CPU(cores)   MEMORY(bytes)   \napi    100m         10Mi            \nweb    42m          84Mi            \n',
    )
    assert.equal(
      await ok('web', '--containers'),
      'POD   NAME   CPU(cores)   MEMORY(bytes)   \nweb   app    35m          20Mi            \nweb   log    7m           64Mi            \n',
    )
    assert.match(await ok('--sort-by=memory'), /\nweb .*\napi .*\n$/)
    assert.match(
      await ok('-A', '--sum'),
      /^NAMESPACE +NAME .*\ndefault +api .*\ndefault +web .*\nshop +db +1000m +1024Mi +\n +________ +________ +\n +1142m +1118Mi +\n$/,
    )
    assert.match(await ok('-n', 'shop', '--no-headers'), /^db +1000m +1024Mi +\n$/)
  })

  test('wrong usage, and pods without metrics', async () => {
    const { runHere, server } = start()
    const fails = async (args: readonly string[], pattern: RegExp): Promise<void> => {
      const { code, stderr } = await runHere(['top', ...args])
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, pattern)
    }
    await fails(['pod', '--sort-by=name'], /--sort-by accepts only cpu or memory/)
    await fails(['pod', 'web', '-l', 'a=b'], /only one of NAME or selector can be provided/)
    await fails(['node', 'a', 'b'], /at most one NAME/)
    nodes = []
    pods = []
    await fails(['node'], /^error: metrics not available yet\n$/)
    assert.deepEqual(await runHere(['top', 'pod']), { code: 0, stdout: '', stderr: 'No resources found in default namespace.\n' })
    await server.client.core.v1.pods('default').create({ metadata: { name: 'new' }, spec: { containers: [{ name: 'main', image: 'x' }] } })
    await fails(['pod'], /^error: metrics not available yet\n$/)
  })
})
