// Debian's build of promtool, which says whether metrics are written as collectors read them. It is unpacked and not installed.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, install, type Obtained, obtain, runToEnd } from './obtaining.js'

const packageName = 'prometheus'

/** The one of this machine is as good. */
export const obtainPromtool = (): Promise<Obtained> =>
  obtain('promtool', async () => ((await runToEnd('promtool', ['--version'])).code === 0 ? 'promtool' : findPromtool()))

async function findPromtool(): Promise<string> {
  const folder = join(cacheFolder, packageName)
  const command = join(folder, 'usr', 'bin', 'promtool')
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
