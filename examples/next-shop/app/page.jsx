import Link from 'next/link'

export default function Page() {
  return (
    <ul>
      <li>
        <Link href="/catalogue">A page that all visitors share</Link>
      </li>
      <li>
        <Link href="/stock?id=7">A page of one visitor, with data that all share</Link>
      </li>
    </ul>
  )
}
