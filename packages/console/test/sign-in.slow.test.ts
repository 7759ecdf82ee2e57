// Signing in by `clusterctl console`, and what ends a session: an expired token, a restarted server.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { Kubectl } from '../../../test/clients/kubectl.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { newFolder, ServerProcess } from '../../../test/kit/server-process.js'
import { type Console, chromiumFound, launch, openPage, signIn, startConsole, timeoutMs } from './browser.js'

describe('console: sessions', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole()
  })
  after(() => started.close())

  test('clusterctl console opens it signed in, and the code stays in no history', async () => {
    const home = newFolder()
    const clientConfiguration = join(home, 'config')
    writeFileSync(clientConfiguration, started.embedded.server.clientConfiguration)
    const client = new Kubectl({ command: join(repoRoot, 'bin', 'clusterctl'), clientConfiguration, home, minor: 26 })
    const command = client.follow('console --no-browser')
    try {
      const address = /http:\S+#code=[\w-]+/.exec(await command.until(/#code=[\w-]+\n/))?.[0] ?? ''
      const context = await started.browser.newContext()
      context.setDefaultTimeout(timeoutMs)
      const page = await context.newPage()
      await page.goto(address)
      await page.getByRole('heading', { name: 'Kinds' }).waitFor()
      assert.equal(page.url(), `${new URL(address).origin}/console/#/`)
      assert.equal(await page.evaluate('history.length'), 2)
      await page.goBack()
      assert.equal(page.url(), 'about:blank')
      await page.goto(address)
      await page.getByText('the code of the address is used or expired').waitFor()
      await page.context().close()
    } finally {
      command.close()
    }
  })

  test('an expired token asks for a new one, and the page goes on where it was', async () => {
    const { client } = started.embedded
    await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'reader' } })
    await client.post('/apis/rbac.authorization.cluster.io/v1/clusterrolebindings', {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
    })
    const { json } = await client.post('/api/v1/namespaces/default/serviceaccounts/reader/token', { spec: {} })
    const { page } = await openPage(started)
    await signIn(page, started.embedded, (json['status'] as { readonly token: string }).token, '#/list/core/v1/configmaps')
    await page.getByText('live', { exact: true }).waitFor()
    assert.equal(await page.locator('.user').textContent(), 'system:serviceaccount:default:reader')
    await client.delete('/api/v1/namespaces/default/serviceaccounts/reader')
    // The deletion of its account makes the token invalid at the next request.
    await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: 'Pod', exact: true }).click()
    await page.getByText('The server no longer accepts the token.').waitFor()
    await page.getByLabel('Bearer token').fill(/token: "([^"]+)"/.exec(started.embedded.server.clientConfiguration)?.[1] ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Pod' }).waitFor()
    await page.context().close()
  })
})

describe('console: restart of the server', { skip: chromiumFound.skip }, () => {
  let browser: Browser
  before(async () => {
    browser = await launch()
  })
  after(() => browser.close())

  test('an open table reconnects and shows what changed', async () => {
    const dataDir = newFolder()
    let server = await ServerProcess.start({ dataDir })
    const { port } = server
    const token = readFileSync(join(dataDir, 'pki', 'admin.token'), 'utf8').trim()
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    context.setDefaultTimeout(timeoutMs)
    const page = await context.newPage()
    await page.goto(`https://127.0.0.1:${port}/console/#/list/core/v1/configmaps?namespace=default`)
    await page.getByLabel('Bearer token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('live', { exact: true }).waitFor()
    await server.stop()
    await page.getByText('reconnecting', { exact: true }).waitFor()
    server = await ServerProcess.start({ dataDir, flags: [`--secure-port=${port}`] })
    await server.client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'after-restart' } })
    await page.getByRole('link', { name: 'after-restart' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await server.stop()
    await context.close()
  })
})
