// The same with jest, which knows `require` only: no flags, no transforms.

const { startServer } = require('cluster-apiserver')
const { isNotFound } = require('cluster-apiserver/client')

let server
beforeAll(async () => {
  server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
})
beforeEach(() => server.reset())
afterAll(() => server.close())

test.each([1, 2])('a test finds the server as it was started, round %i', async () => {
  const maps = server.client.core.v1.configMaps('shop')
  await maps.create({ metadata: { name: 'prices' }, data: { apple: '3' } })
  expect((await maps.get('prices')).data).toEqual({ apple: '3' })
})

test('an option that does not exist is refused', async () => {
  await expect(startServer({ datadir: '/tmp' })).rejects.toThrow('is "dataDir" meant?')
})

test('what is not there is told as such', async () => {
  const missing = await server.client.core.v1
    .configMaps('shop')
    .get('none')
    .catch((thrown) => thrown)
  expect(isNotFound(missing)).toBe(true)
})
