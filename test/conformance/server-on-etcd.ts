// A command that starts the server on an etcd, each time under a prefix of its own, for the tool that replays recordings.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EtcdCluster, whyNoEtcd } from '../etcd/etcd-cluster.js'
import { commandPath } from '../kit/paths.js'

export interface ServerOnEtcd {
  /** An executable that takes the same flags. */
  readonly command: string
  close(): Promise<void>
}

export async function serverOnEtcd(): Promise<ServerOnEtcd> {
  if (whyNoEtcd !== undefined) throw new Error(whyNoEtcd)
  const cluster = await EtcdCluster.start({ members: 1 })
  const folder = mkdtempSync(join(tmpdir(), 'conformance-etcd-'))
  const command = join(folder, 'server')
  // The shell becomes the server, so its number is that of the run.
  const etcd = `--etcd-servers=${cluster.endpoints.join(',')} --etcd-prefix=/conformance/$$`
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${commandPath}' "$@" ${etcd}\n`)
  chmodSync(command, 0o700)
  return {
    command,
    close: async () => {
      await cluster.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
