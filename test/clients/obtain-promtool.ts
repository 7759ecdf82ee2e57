// Debian's build of promtool, which says whether metrics are written as collectors read them. It is unpacked and not installed.

import { type Obtained, obtain, runToEnd, unpackCommand } from './obtaining.js'

const packageName = 'prometheus'

/** The one of this machine is as good. */
export const obtainPromtool = (): Promise<Obtained> =>
  obtain('promtool', async () =>
    (await runToEnd('promtool', ['--version'])).code === 0 ? 'promtool' : unpackCommand(packageName, 'promtool'),
  )
