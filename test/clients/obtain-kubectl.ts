// Debian's own build of the command line client. It is unpacked and not installed: its package gets in the way of other ones that bring
// a command of the same name, and unpacking needs no rights.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, install, type Obtained, obtain } from './obtaining.js'

const packageName = 'kubernetes-client'

/** Another build of the client can be tried by naming it in the environment. */
export function obtainKubectl(): Promise<Obtained> {
  const chosen = process.env['CLIENTS_KUBECTL']
  return chosen === undefined ? obtain('kubectl', findKubectl) : Promise.resolve({ path: chosen, skip: false })
}

async function findKubectl(): Promise<string> {
  const folder = join(cacheFolder, packageName)
  const command = join(folder, 'usr', 'bin', 'kubectl')
  if (existsSync(command)) return command
  const workplace = mkdtempSync(join(cacheFolder, 'unpack-'))
  try {
    await download(workplace)
    const archive = readdirSync(workplace).find((name) => name.endsWith('.deb'))
    if (archive === undefined) throw new Error(`no package ${packageName} in this release`)
    const unpacked = join(workplace, 'unpacked')
    mkdirSync(unpacked)
    await install('dpkg-deb', ['--extract', join(workplace, archive), unpacked])
    if (!existsSync(command)) renameSync(unpacked, folder)
    return command
  } finally {
    rmSync(workplace, { recursive: true, force: true })
  }
}

/** The lists of packages are missing on a fresh machine, and outdated on an old one. */
async function download(folder: string): Promise<void> {
  const args = ['download', '--quiet', packageName]
  try {
    await install('apt-get', args, folder)
  } catch {
    await install('apt-get', ['update', '--quiet'])
    await install('apt-get', args, folder)
  }
}
