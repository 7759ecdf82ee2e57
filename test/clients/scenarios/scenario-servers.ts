// The servers and the files of client configuration through which plays are performed: as administrator, and with one credential plugin for all clients.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiClient } from '../../kit/api-client.js'
import { expectStatus, until } from '../../kit/fixtures.js'
import { ServerProcess } from '../../kit/server-process.js'
import { newAuthority, newClient } from '../../security/make-pki.js'
import { newNamespace } from '../namespaces.js'
import type { Way } from './play.js'

/** Debian's command knows no younger version than this one. */
const apiVersion = 'client.authentication.k8s.io/v1beta1'

export class Ways {
  readonly folder: string
  readonly #usual: ServerProcess
  /** Keeps a second of history, and knows the users of the plugin. */
  readonly #special: ServerProcess

  private constructor(folder: string, usual: ServerProcess, special: ServerProcess) {
    this.folder = folder
    this.#usual = usual
    this.#special = special
  }

  static async open(): Promise<Ways> {
    const folder = mkdtempSync(join(tmpdir(), 'plays-'))
    const [tokens, authorityFile] = [join(folder, 'tokens.csv'), join(folder, 'ca.crt')]
    const authority = newAuthority('clients')
    writeFileSync(tokens, 'of-the-plugin,carol,1,"readers"\n')
    writeFileSync(authorityFile, authority.cert)
    const flags = ['--identity=kubernetes']
    const more = ['--etcd-compaction-interval=1s', `--token-auth-file=${tokens}`, `--client-ca-file=${authorityFile}`]
    const [usual, special] = await Promise.all([ServerProcess.start({ flags }), ServerProcess.start({ flags: [...flags, ...more] })])
    const ways = new Ways(folder, usual, special)
    const { cert, key } = newClient(authority, 'carol', { organizations: ['readers'] })
    ways.#writePlugin('token of a plugin', { token: 'of-the-plugin' })
    ways.#writePlugin('certificate of a plugin', { clientCertificateData: cert, clientKeyData: key })
    ways.#writePlugin('refused token of a plugin', { token: 'of-nobody' })
    await allowReaders(special.client)
    await until(
      // Only what has been followed by something can be forgotten.
      async () => {
        await newNamespace(special.client)
        return special.client.get('/api/v1/configmaps?watch=1&resourceVersion=1&timeoutSeconds=1')
      },
      ({ status }) => status === 410,
    )
    return ways
  }

  configuration(way: Way): string {
    return way === 'admin' || way === 'short history' ? join(this.#serverOf(way).dataDir, 'admin.conf') : join(this.folder, way)
  }

  newNamespace(way: Way): Promise<string> {
    return newNamespace(this.#serverOf(way).client)
  }

  /** What the plugin was told, run by run. */
  runs(way: Way): readonly string[] {
    return readFileSync(join(this.folder, `${way}.log`), 'utf8')
      .trim()
      .split('\n')
  }

  async close(): Promise<void> {
    await Promise.all([this.#usual.stop(), this.#special.stop()])
    rmSync(this.folder, { recursive: true, force: true })
  }

  #serverOf(way: Way): ServerProcess {
    return way === 'admin' ? this.#usual : this.#special
  }

  /** The program is the same for all: it notes what it was told, and answers with a file. */
  #writePlugin(way: Way, status: object): void {
    const plugin = join(this.folder, 'plugin')
    writeFileSync(plugin, '#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> "$1.log"\ncat "$1.json"\n', { mode: 0o755 })
    writeFileSync(join(this.folder, `${way}.json`), JSON.stringify({ apiVersion, kind: 'ExecCredential', status }))
    const exec = {
      apiVersion,
      command: plugin,
      args: [join(this.folder, way)],
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
    writeFileSync(this.configuration(way), JSON.stringify(configuration))
  }
}

/** They may write, too, but not delete, so that it shows whose rights count. */
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
