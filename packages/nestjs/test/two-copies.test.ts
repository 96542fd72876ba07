import 'reflect-metadata'
import { expect, jest, test } from '@jest/globals'
import { CacheInterceptor, isCacheInterceptor } from '../src/cache-interceptor.ts'

test('the CacheInterceptor of another copy of the package, as of its other build, marks handlers for this one', async () => {
  await jest.isolateModulesAsync(async () => {
    const { CacheInterceptor: Other } = await import('../src/cache-interceptor.ts')
    expect(Other).not.toBe(CacheInterceptor)
    for (const marked of [CacheInterceptor, new CacheInterceptor(), Other, new Other()])
      expect(isCacheInterceptor(marked)).toBe(true)
  })
  for (const other of [undefined, null, Object, () => undefined, {}, 'CacheInterceptor'])
    expect(isCacheInterceptor(other)).toBe(false)
})
