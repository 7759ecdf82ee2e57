// Commands of docs/clusterctl.md: run against a server, and listed by `help`.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../../../test/clients/obtain.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { useServer } from './harness.js'

const start = useServer()
const page = readFileSync(join(repoRoot, 'docs/clusterctl.md'), 'utf8')
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }))

test('the commands of docs/clusterctl.md print the documented output', { timeout: 300_000 }, async () => {
  const { server, folder } = start()
  for (const { text } of blocks) {
    const file = /^# file: (\S+)\n/.exec(text)?.[1]
    if (file === undefined) continue
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  // No controller runs: the test reports deployments as available.
  const deployments = server.client.apps.v1.deployments('default')
  using informer = deployments.inform()
  informer.onChange(({ type, object: { metadata } }) => {
    if (type !== 'delete')
      deployments.status
        .patch(metadata?.name ?? '', { status: { conditions: [{ type: 'Available', status: 'True' }] } })
        .catch(() => undefined)
  })
  await informer.ready
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
  const env = { PATH: `${join(repoRoot, 'bin')}:${process.env['PATH']}`, HOME: folder, KUBECONFIG: join(folder, 'config') }
  const script = `set -euo pipefail\nexec 2>&1\n${commands.join('\n')}`
  const { code, stdout, stderr } = await runToEnd('bash', ['-c', script], { cwd: folder, env, timeoutMs: 240_000 })
  assert.equal(code, 0, `${stdout}${stderr}`)
  const expected = [
    'deployment.apps/web created\nconfigmap/prices created\n',
    '\n3\n',
    '\n-  apple: "4"\n+  apple: "3"\n',
    'deployment.apps/web scaled\ndeployment.apps/web condition met\ndeployment.apps/web restarted\n',
    'configmap/prices labeled\n',
    'deployment.apps "web" deleted\nconfigmap "prices" deleted\n',
  ]
  for (const text of expected) assert.ok(stdout.includes(text), `${text}is not in\n${stdout}`)
  assert.match(stdout, /^\.data\.apple +3 +clusterctl +Apply /m)
})

test('every command of the page exists', async () => {
  const { ok } = start()
  const help = await ok('help')
  for (const [, command = ''] of page.matchAll(/^clusterctl ([a-z-]+)/gm))
    assert.match(help, new RegExp(`^ {2}${command}( |$)`, 'm'), command)
})
