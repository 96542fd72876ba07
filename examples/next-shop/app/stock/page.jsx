import { Suspense } from 'react'
import { updateTag } from 'next/cache'
import { stockOf } from '../../lib/products'

async function sell() {
  'use server'
  updateTag('stock')
}

async function Stock({ searchParams }) {
  const { id = '7' } = await searchParams
  const { version } = await stockOf(id)
  return <p>{`stock version=${version};`}</p>
}

export default function Page({ searchParams }) {
  return (
    <>
      <Suspense fallback={<p>one moment</p>}>
        <Stock searchParams={searchParams} />
      </Suspense>
      <form action={sell}>
        <button type="submit">Sell one</button>
      </form>
    </>
  )
}
