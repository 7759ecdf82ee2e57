// Servers and kubeconfigs of the scenarios: administrator, short history, and exec credential plugins.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newAuthority, newClient } from '../../../packages/server/test/security/make-pki.js'
import type { ApiClient } from '../../kit/api-client.js'
import { expectStatus, until } from '../../kit/fixtures.js'
import { ServerProcess } from '../../kit/server-process.js'
import { newNamespace } from '../namespaces.js'
import type { Setup } from './scenario.js'

/** Latest version that Debian's kubectl supports. */
const apiVersion = 'client.authentication.k8s.io/v1beta1'

export class ScenarioServers {
  readonly folder: string
  readonly #usual: ServerProcess
  /** One second of history, and the users of the plugins. */
  readonly #special: ServerProcess

  private constructor(folder: string, usual: ServerProcess, special: ServerProcess) {
    this.folder = folder
    this.#usual = usual
    this.#special = special
  }

  static async open(): Promise<ScenarioServers> {
    const folder = mkdtempSync(join(tmpdir(), 'scenarios-'))
    const [tokens, authorityFile] = [join(folder, 'tokens.csv'), join(folder, 'ca.crt')]
    const authority = newAuthority('clients')
    writeFileSync(tokens, 'of-the-plugin,carol,1,"readers"\n')
    writeFileSync(authorityFile, authority.cert)
    const flags = ['--identity=kubernetes']
    const more = ['--etcd-compaction-interval=1s', `--token-auth-file=${tokens}`, `--client-ca-file=${authorityFile}`]
    const [usual, special] = await Promise.all([ServerProcess.start({ flags }), ServerProcess.start({ flags: [...flags, ...more] })])
    const servers = new ScenarioServers(folder, usual, special)
    const { cert, key } = newClient(authority, 'carol', { organizations: ['readers'] })
    servers.#writePlugin('token of a plugin', { token: 'of-the-plugin' })
    servers.#writePlugin('certificate of a plugin', { clientCertificateData: cert, clientKeyData: key })
    servers.#writePlugin('refused token of a plugin', { token: 'of-nobody' })
    await allowReaders(special.client)
    await until(
      // Writes, because compaction keeps the latest revision.
      async () => {
        await newNamespace(special.client)
        return special.client.get('/api/v1/configmaps?watch=1&resourceVersion=1&timeoutSeconds=1')
      },
      ({ status }) => status === 410,
    )
    return servers
  }

  configuration(setup: Setup): string {
    return setup === 'admin' || setup === 'short history' ? join(this.#serverOf(setup).dataDir, 'admin.conf') : join(this.folder, setup)
  }

  newNamespace(setup: Setup): Promise<string> {
    return newNamespace(this.#serverOf(setup).client)
  }

  /** Input of the plugin, one line per run. */
  runs(setup: Setup): readonly string[] {
    return readFileSync(join(this.folder, `${setup}.log`), 'utf8')
      .trim()
      .split('\n')
  }

  async close(): Promise<void> {
    await Promise.all([this.#usual.stop(), this.#special.stop()])
    rmSync(this.folder, { recursive: true, force: true })
  }

  #serverOf(setup: Setup): ServerProcess {
    return setup === 'admin' ? this.#usual : this.#special
  }

  /** The plugin logs its input and prints a file. */
  #writePlugin(setup: Setup, status: object): void {
    const plugin = join(this.folder, 'plugin')
    writeFileSync(plugin, '#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> "$1.log"\ncat "$1.json"\n', { mode: 0o755 })
    writeFileSync(join(this.folder, `${setup}.json`), JSON.stringify({ apiVersion, kind: 'ExecCredential', status }))
    const exec = {
      apiVersion,
      command: plugin,
      args: [join(this.folder, setup)],
      env: null,
      interactiveMode: 'Never',
      provideClusterInfo: true,
    }
    const configuration = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: this.#special.url, 'certificate-authority': join(this.#special.dataDir, 'pki', 'ca.crt') } },
      ],
      users: [{ name: 'u', user: { exec } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    writeFileSync(this.configuration(setup), JSON.stringify(configuration))
  }
}

/** Readers may create but not delete, to show which permissions apply. */
async function allowReaders(client: ApiClient): Promise<void> {
  const group = 'rbac.authorization.k8s.io'
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create'] }]
  const role = { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name: 'readers' }, rules }
  const binding = {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'readers' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'readers' },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'readers' }],
  }
  expectStatus(await client.post(`/apis/${group}/v1/clusterroles`, role), 201)
  expectStatus(await client.post(`/apis/${group}/v1/clusterrolebindings`, binding), 201)
}
