// Obtains Chromium from Debian for tests of pages. It has many libraries, so it is installed, which needs root.

import { existsSync } from 'node:fs'
import { install, type Obtained, obtain } from '../../../test/clients/obtain.js'

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser']

/** CLIENTS_CHROMIUM names another binary. */
export function obtainChromium(): Promise<Obtained> {
  const chosen = process.env['CLIENTS_CHROMIUM'] ?? paths.find((path) => existsSync(path))
  return chosen === undefined ? obtain('chromium', installChromium) : Promise.resolve({ path: chosen, skip: false })
}

async function installChromium(): Promise<string> {
  const args = ['install', '--quiet', '--yes', 'chromium', 'fonts-dejavu-core']
  try {
    await install('apt-get', args)
  } catch {
    await install('apt-get', ['update', '--quiet'])
    await install('apt-get', args)
  }
  const path = paths.find((each) => existsSync(each))
  if (path === undefined) throw new Error('the package chromium has no browser')
  return path
}
