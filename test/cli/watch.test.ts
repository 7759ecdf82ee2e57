// clusterctl get -w against a server that ends its watches in every way there is.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../src/cli/main.js'
import { newFolder } from '../kit/server-process.js'
import { runHere } from './run-here.js'

const discovery = (url: string): object => ({
  kind: 'APIGroupDiscoveryList',
  items: url.startsWith('/apis')
    ? []
    : [
        {
          metadata: { name: '' },
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'configmaps',
                  singularResource: 'configmap',
                  responseKind: { kind: 'ConfigMap' },
                  scope: 'Namespaced',
                  verbs: ['get', 'list', 'watch'],
                },
              ],
            },
          ],
        },
      ],
})

const table = (resourceVersion: number, ...rows: readonly (readonly [string, number])[]): object => ({
  kind: 'Table',
  apiVersion: 'meta.cluster.io/v1',
  metadata: { resourceVersion: String(resourceVersion) },
  columnDefinitions: [{ name: 'Name', format: 'name', type: 'string' }],
  rows: rows.map(([name, version]) => ({
    cells: [name],
    object: { metadata: { name, namespace: 'default', uid: name, resourceVersion: String(version) } },
  })),
})
const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`

test('a watch that is ended, cut off or too old is begun anew, and tells everything once', { timeout: 120_000 }, async () => {
  const lists = [table(1, ['a', 1], ['b', 1]), table(7, ['a', 5], ['c', 6])]
  const from: string[] = []
  const watches: ((response: ServerResponse) => void)[] = [
    (response) => response.end(event('MODIFIED', table(0, ['a', 3]))),
    (response) => response.end(),
    (response) => {
      response.flushHeaders()
      setImmediate(() => response.destroy())
    },
    (response) => response.end(event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })),
    (response) => response.write(event('ADDED', table(0, ['d', 8]))),
  ]
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://server')
    response.setHeader('content-type', 'application/json')
    if (!url.pathname.endsWith('/configmaps')) response.end(JSON.stringify(discovery(url.pathname)))
    else if (url.searchParams.get('watch') === null) response.end(JSON.stringify(lists.shift()))
    else {
      from.push(url.searchParams.get('resourceVersion') ?? '')
      watches.shift()?.(response)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = newFolder()
  writeFileSync(join(folder, 'config'), '')
  const ending = new AbortController()
  const { port } = server.address() as AddressInfo
  const words = ['get', 'configmaps', '-w', '--output-watch-events', '--no-headers', '--server', `http://127.0.0.1:${port}`]
  const places = ['--kubeconfig', join(folder, 'config'), '--cache-dir', folder]
  try {
    const { code, stdout, stderr } = await runHere([...words, ...places], '', ending.signal, (argv, { io, ...more } = {}) => {
      const out = (text: string): void => {
        io?.out(text)
        if (/ d\b/.test(text)) ending.abort()
      }
      return main(argv, { ...more, ...(io === undefined ? {} : { io: { ...io, out } }) })
    })
    assert.equal(code, 130, stderr)
    assert.deepEqual(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd().replaceAll(/ +/g, ' ')),
      ['ADDED a', 'ADDED b', 'MODIFIED a', 'MODIFIED a', 'ADDED c', 'ADDED d'],
      stderr,
    )
    assert.deepEqual(from, ['1', '3', '3', '3', '7'])
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
