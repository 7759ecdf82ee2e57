// What commands make of files: where objects belong, what may be pruned, keys and values.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import { play } from './play.js'

const start = play()
const map = (name: string, namespace?: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { a: 'b' } })

test('nothing is pruned in a namespace in which no file has an object', async () => {
  const { server, here } = start()
  await server.client.core.v1.namespaces().create({ metadata: { name: 'shop' } })
  assert.equal((await here(['apply', '-f', '-'], `${map('mine')}\n---\n${map('old', 'shop')}`)).code, 0)
  const pruned = await here(['apply', '-f', '-', '--prune', '--all'], map('prices', 'shop'))
  assert.equal(pruned.stdout, 'configmap/prices created\nconfigmap/old pruned\n', pruned.stderr)
  await server.client.core.v1.configMaps('default').get('mine')
  // What says no namespace is in the current one, and so is what goes.
  const current = await here(['apply', '-f', '-', '--prune', '--all'], map('other'))
  assert.equal(current.stdout, 'configmap/other created\nconfigmap/mine pruned\n', current.stderr)
})

test('an empty namespace in a file means the current one', async () => {
  const { server, here } = start()
  for (const flags of [[], ['--namespace=default']]) {
    const made = await here(['apply', '-f', '-', ...flags], map('placed', ''))
    assert.equal(made.code, 0, made.stderr)
  }
  await server.client.core.v1.configMaps('default').get('placed')
})

test('output that cannot be written is told, and leaves no work half done', { skip: !existsSync('/dev/full') }, async () => {
  const { server, folder } = start()
  const maps = server.client.core.v1.configMaps('default')
  const names = ['f1', 'f2', 'f3', 'f4', 'f5']
  for (const name of names) await maps.create({ metadata: { name } })
  const env = { PATH: `${join(repoRoot, 'bin')}:${process.env['PATH']}`, HOME: folder, KUBECONFIG: join(folder, 'config') }
  const script = `clusterctl delete cm ${names.join(' ')} --wait=false > /dev/full`
  const { code, stderr } = await runToEnd('bash', ['-c', script], { cwd: folder, env })
  assert.equal(code, 1)
  assert.match(stderr, /^error: the output could not be written: .*no space left/)
  for (const name of names) assert.equal(await maps.find(name), undefined, name)
})
