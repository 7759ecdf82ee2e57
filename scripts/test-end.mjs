// Imported last into each file of tests: when all of them have ended, and what they left open keeps the process alive, it says so and ends.

import { after } from 'node:test'

const patienceMs = 10_000

after(() => {
  setTimeout(() => {
    const counts = new Map()
    for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1)
    const open = [...counts].map(([name, count]) => `${count} ${name}`).join(', ')
    console.log(`${process.argv[1]} was ended ${patienceMs / 1000} s after its last test, as it had open: ${open}`)
    process.exit()
  }, patienceMs).unref()
})
