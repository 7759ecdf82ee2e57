// Flags, files and keys of a server for a profile of the recordings.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { IdentityName } from './replay.js'

/** Keys take seconds to create, so all replays share them. */
export function obtainKeys(root: string): string {
  const script = join(root, 'make-pki.sh')
  const shared = join(tmpdir(), `cluster-apiserver-conformance-${userInfo().uid}`)
  mkdirSync(shared, { recursive: true, mode: 0o700 })
  if (statSync(shared).uid !== userInfo().uid) throw new Error(`${shared} belongs to somebody else`)
  const keys = join(shared, createHash('sha256').update(readFileSync(script)).digest('hex').slice(0, 16))
  if (existsSync(join(keys, 'done'))) return keys
  const draft = mkdtempSync(join(shared, 'draft-'))
  try {
    execFileSync(script, [draft], { stdio: 'ignore' })
    renameSync(draft, keys)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process was faster.
    if (!existsSync(join(keys, 'done'))) throw error
  }
  return keys
}

interface ProfileRequest {
  readonly root: string
  readonly profile: string
  readonly identity: IdentityName
  readonly keys: string
  /** Folder into which the files of the profile are copied. */
  readonly folder: string
}

/** Writes the files of a profile and returns its flags. */
export function prepareProfile({ root, profile, identity, keys, folder }: ProfileRequest): readonly string[] {
  cpSync(join(root, 'profiles', profile), folder, { recursive: true })
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    if (!statSync(path).isFile()) continue
    const text = readFileSync(path, 'utf8').replaceAll(/\$\{(PROFILE|PKI)\}/g, (_, name) => (name === 'PKI' ? keys : folder))
    writeFileSync(path, identity === 'cluster' ? withNeutralNames(text) : text)
  }
  const lines = readFileSync(join(folder, 'flags.txt'), 'utf8').split('\n')
  return lines.filter((line) => !/^\s*(?:#|$)/.test(line))
}

const withNeutralNames = (text: string): string =>
  text.replaceAll(/(?:k8s|kubernetes)\.io/g, 'cluster.io').replaceAll(/(^|[^A-Za-z0-9_.-])kube-([a-z])/gm, '$1cluster-$2')
