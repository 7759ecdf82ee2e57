// Invalid responses of a server are errors with the path of the field.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { newFolder } from '../../../test/kit/server-process.js'
import { runInProcess } from './run-in-process.js'

const discovery = (resource: object): object => ({
  kind: 'APIGroupDiscoveryList',
  items: [
    { versions: [{ version: 'v1', resources: [{ resource: 'things', scope: 'Cluster', responseKind: { kind: 'Thing' }, ...resource }] }] },
  ],
})
const none = { kind: 'APIGroupDiscoveryList', items: [] }

/** Output of `get things` as table and JSON, and the number of requests for things. */
async function getThings(responses: { readonly [path: string]: unknown }) {
  let requests = 0
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] as string
    if (path === '/api/v1/things' && ++requests > 1000) return void response.destroy()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(responses[path] ?? none))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const args = ['get', 'things', `--server=${url}`, `--cache-dir=${newFolder()}`, '--kubeconfig=/dev/null']
  const table = await runInProcess(args)
  const json = await runInProcess([...args, '-o', 'json'])
  server.close()
  server.closeAllConnections()
  return { table, json, requests }
}

test('discovery, tables and lists with wrong types are reported by field', async () => {
  for (const [responses, errorPattern] of [
    [{ '/api': { kind: 'APIGroupDiscoveryList', items: 7 } }, /^error: the server returned \/api with a wrong type: items is not a list\n/],
    [{ '/api': discovery({ responseKind: { kind: {} } }) }, /resources\[0\]\.responseKind\.kind is not a string/],
    [{ '/api': discovery({ shortNames: 'th' }) }, /resources\[0\]\.shortNames is not a list/],
  ] as const) {
    const { table } = await getThings(responses)
    assert.deepEqual([table.code, table.stdout], [1, ''])
    assert.match(table.stderr, errorPattern)
  }
  for (const [things, errorPattern] of [
    [{ kind: 'ThingList', items: [] }, /^error: the server returned ThingList instead of a Table\n/],
    [{ kind: 'Table', columnDefinitions: 'all', rows: [] }, /a table with a wrong type: columnDefinitions is not a list/],
    [{ kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: [null] }, /rows\[0\] is not an object/],
    [{ kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: [{ cells: {} }] }, /rows\[0\]\.cells is not a list/],
  ] as const) {
    const { table } = await getThings({ '/api': discovery({}), '/api/v1/things': things })
    assert.equal(table.code, 1)
    assert.match(table.stderr, errorPattern)
  }
  for (const items of ['all', [null], ['a']]) {
    const { json } = await getThings({
      '/api': discovery({}),
      '/api/v1/things': { kind: 'ThingList', apiVersion: 'v1', metadata: {}, items },
    })
    assert.equal(json.code, 1)
    assert.match(json.stderr, /^error: the server returned a list/)
  }
})
